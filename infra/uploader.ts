/** Makes the folder of which the uploader's image is built, when it is deployed: its one file and its Dockerfile. */
import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { NODE_MODULE } from "./bundle.ts";

const SOURCE = join(import.meta.dirname, "..", "tasks", "zimit");

/** @returns the folder */
export async function buildUploader(directory: string): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await build({
    entryPoints: [join(SOURCE, "uploader.ts")],
    outfile: join(directory, "uploader.mjs"),
    ...NODE_MODULE,
  });
  await cp(join(SOURCE, "Dockerfile"), join(directory, "Dockerfile"));
  return directory;
}
