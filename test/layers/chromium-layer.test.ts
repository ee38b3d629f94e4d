/** The browser layer as Lambda unpacks it: alone, with none of our own `node_modules` in reach. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CHROMIUM_LAYER } from "../../layers/chromium/chromium-layer.ts";
import { buildLayer } from "../../layers/layer.ts";

const run = promisify(execFile);
/**
 * Of a function and all its layers, unpacked: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const LIMIT_BYTES = 250 * 1024 * 1024;

let folder: string;
let directory: string;
let files: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "strandline layer "));
  directory = join(folder, "chromium");
  await mkdir(directory);
  await writeFile(join(directory, "left-over"), "of an earlier build");
  await buildLayer(CHROMIUM_LAYER, directory);
  const found = await readdir(directory, { recursive: true, withFileTypes: true });
  files = found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("holds only what Lambda looks for, and nothing of an earlier build", async () => {
  expect(await readdir(directory)).toEqual(["nodejs"]);
  expect(await readdir(join(directory, "nodejs"))).toEqual(["node_modules"]);
});

/** The module as a bundle holds it, in a folder without packages. */
async function bundledAlone(entry: string): Promise<string> {
  const outfile = join(folder, "function", "index.mjs");
  await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm" });
  return outfile;
}

test("each of its packages loads where nothing else is installed", async () => {
  const loader = join(import.meta.dirname, "..", "..", "shared", "render", "chromium", "layer-package.ts");
  const script = `
    import { importLayerPackage, layerPackagePath } from ${JSON.stringify(pathToFileURL(await bundledAlone(loader)).href)};
    for (const name of ${JSON.stringify(CHROMIUM_LAYER.packages)}) {
      if (!layerPackagePath(name).startsWith(process.env.NODE_PATH)) throw new Error("from elsewhere: " + name);
      console.log(name, Object.keys(await importLayerPackage(name)).length > 0);
    }`;
  // as Lambda's runtime is started, which refuses to require ES modules
  const { stdout } = await run(
    process.execPath,
    ["--no-experimental-require-module", "--input-type=module", "-e", script],
    { cwd: directory, env: { NODE_PATH: join(directory, "nodejs", "node_modules") } },
  );
  expect(stdout.trim().split("\n")).toEqual(CHROMIUM_LAYER.packages.map((name) => `${name} true`));
});

test("holds the browser, and leaves room for a function's code below the limit of Lambda", async () => {
  expect(files.some((file) => /[\\/]chromium\.br$/.test(file))).toBe(true);
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(LIMIT_BYTES / 2);
});

test("holds neither type declarations nor source maps", () => {
  expect(files.filter((file) => /\.(d\.ts|d\.mts|d\.cts|map)$/.test(file))).toEqual([]);
});
