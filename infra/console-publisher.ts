/** Makes the folder of the function that brings the console's files into their bucket, and those files with it. */
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { buildWhereStale, CONSOLE_DIST } from "../console/build.ts";
import { cacheControlOf, contentTypeOf } from "../console/file-headers.ts";
import { NODE_MODULE } from "./bundle.ts";

const PUBLISHER = join(import.meta.dirname, "..", "tasks", "console", "publisher.ts");

export interface ConsolePublisher {
  /** Becomes the function's code. */
  directory: string;
  /** Keys of the files in their bucket. */
  keys: readonly string[];
}

/** @param directory is emptied first */
export async function buildConsolePublisher(directory: string): Promise<ConsolePublisher> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await build({ entryPoints: [PUBLISHER], outfile: join(directory, "index.mjs"), ...NODE_MODULE });
  await buildWhereStale();
  const files = await readServed();
  for (const { key } of files) await cp(join(CONSOLE_DIST, nameOf(key)), join(directory, "files", key));
  await writeFile(join(directory, "files.json"), JSON.stringify(files));
  return { directory, keys: files.map(({ key }) => key) };
}

/** `index.html` last: it names the others. */
async function readServed() {
  const names = (await readdir(CONSOLE_DIST, { recursive: true })).map((name) => name.replaceAll("\\", "/")).sort();
  const served = names.filter((name) => contentTypeOf(name) !== undefined && name !== "index.html");
  return [...served, "index.html"].map((name) => ({
    key: `console/${name}`,
    contentType: contentTypeOf(name),
    cacheControl: cacheControlOf(name),
  }));
}

const nameOf = (key: string): string => key.slice("console/".length);
