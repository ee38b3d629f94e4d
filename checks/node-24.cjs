// Loaded before each script. Scripts get Node 24 from the `node` package; without it they would stop with a riddle.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  process.stderr.write(
    `strandline needs Node 24 or newer, and this is ${process.version}. Its own copy is missing: \`npm ci\` was probably\n` +
      "run with --ignore-scripts. Run `npm rebuild --ignore-scripts=false`, or `npm ci` again without it.\n",
  );
  process.exit(1);
}
