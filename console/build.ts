/**
 * `npm run build:console`: makes of `app/` what a server gives to browsers, in `dist/`. Files in `assets/` carry a hash
 * of their content in the name and may be kept for ever; `index.html` names them.
 */
import { createHash } from "node:crypto";
import { glob, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build, type Plugin, stop } from "esbuild";
import { errorCauses } from "./error-causes.ts";
import { requestSchemas } from "./request-schemas.ts";

const ROOT = import.meta.dirname;
export const CONSOLE_DIST = join(ROOT, "dist");
/** Names what `dist/` was made of. */
const STAMP = "sources.sha256";

/** What the app reads of the rest of the project, beside its own files. */
const READ = [
  "../docs/openapi.json",
  "../docs/guide/errors.md",
  "../package-lock.json",
  "../functions/docs-api/files/colours.css",
].map((file) => join(ROOT, file));

/** Builds where nothing is built yet, or where the sources have changed since. */
export async function buildWhereStale(): Promise<void> {
  const stamp = await stampOfSources();
  const built = await readFile(join(CONSOLE_DIST, STAMP), "utf8").catch(() => undefined);
  if (built === stamp) return;
  await buildConsole(stamp);
  // its process would stay as long as this one
  await stop();
}

/** Builds beside what is there, and then takes its place: whoever serves it never sees half of it. */
async function buildConsole(stamp: string): Promise<void> {
  const folder = await mkdtemp(join(ROOT, ".dist-"));
  try {
    const { metafile } = await build({
      entryPoints: [join(ROOT, "app/main.tsx")],
      outdir: join(folder, "assets"),
      entryNames: "[name]-[hash]",
      chunkNames: "[name]-[hash]",
      absWorkingDir: ROOT,
      bundle: true,
      splitting: true,
      format: "esm",
      target: "es2022",
      minify: true,
      jsx: "automatic",
      jsxImportSource: "preact",
      legalComments: "none",
      metafile: true,
      logLevel: "error",
      plugins: [documents],
    });
    const [script, output] =
      Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === "app/main.tsx") ?? [];
    if (script === undefined || output?.cssBundle === undefined) throw new Error("The console has no entry point");
    const html = (await readFile(join(ROOT, "index.html"), "utf8"))
      .replace("{{script}}", `assets/${basename(script)}`)
      .replace("{{style}}", `assets/${basename(output.cssBundle)}`);
    await writeFile(join(folder, "index.html"), html);
    await writeFile(join(folder, STAMP), stamp);
    await rm(CONSOLE_DIST, { recursive: true, force: true });
    // where somebody else was faster, theirs is as good
    await rename(folder, CONSOLE_DIST).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Modules that are made of the project's documents: `strandline:NAME`. */
const DOCUMENTS: Record<string, { file: string; read(text: string): unknown }> = {
  // those that the API itself validates with
  "request-schemas": { file: "../docs/openapi.json", read: requestSchemas },
  "error-causes": { file: "../docs/guide/errors.md", read: errorCauses },
};

const documents: Plugin = {
  name: "documents",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^strandline:/ }, ({ path }) => ({ path: path.slice(11), namespace: "strandline" }));
    onLoad({ filter: /.*/, namespace: "strandline" }, async ({ path }) => {
      const document = DOCUMENTS[path];
      if (document === undefined) throw new Error(`There is no module strandline:${path}`);
      const value = document.read(await readFile(join(ROOT, document.file), "utf8"));
      return { contents: JSON.stringify(value), loader: "json" };
    });
  },
};

async function stampOfSources(): Promise<string> {
  const own: string[] = [];
  for await (const file of glob("{app/**/*.{ts,tsx,css},*.{ts,html}}", { cwd: ROOT })) own.push(join(ROOT, file));
  const hash = createHash("sha256");
  for (const file of [...own.sort(), ...READ]) hash.update(`${file}\0`).update(await readFile(file));
  return hash.digest("hex");
}

if (import.meta.main) {
  await mkdir(CONSOLE_DIST, { recursive: true });
  await buildConsole(await stampOfSources());
}
