/** Makes the folder of which the uploader's image is built, when it is deployed: its one file and its Dockerfile. */
import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const SOURCE = join(import.meta.dirname, "..", "tasks", "zimit");

/** @returns the folder */
export async function buildUploader(directory: string): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await build({
    entryPoints: [join(SOURCE, "uploader.ts")],
    outfile: join(directory, "uploader.mjs"),
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    mainFields: ["module", "main"],
    minify: true,
    keepNames: true,
    legalComments: "none",
    logLevel: "warning",
  });
  await cp(join(SOURCE, "Dockerfile"), join(directory, "Dockerfile"));
  return directory;
}
