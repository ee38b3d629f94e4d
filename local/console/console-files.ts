/** The files of the console as a server needs them: built when somebody first asks, compressed once, kept in memory. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { contentTypeOf } from "../../console/file-headers.ts";

export interface ConsoleFile {
  type: string;
  etag: string;
  body: Buffer;
  br: Buffer;
  gzip: Buffer;
}

/**
 * Gives the files by their path below `/console/`; the builder is not loaded before.
 * @throws Error where the console cannot be built
 */
export async function readConsole(): Promise<ReadonlyMap<string, ConsoleFile>> {
  const { buildWhereStale, CONSOLE_DIST } = await import("../../console/build.ts");
  await buildWhereStale();
  const names = await readdir(CONSOLE_DIST, { recursive: true });
  const served = names.map((name) => name.replaceAll("\\", "/")).filter((name) => contentTypeOf(name) !== undefined);
  return new Map(
    await Promise.all(served.map(async (name) => [name, await prepare(join(CONSOLE_DIST, name))] as const)),
  );
}

async function prepare(file: string): Promise<ConsoleFile> {
  const body = await readFile(file);
  return {
    type: contentTypeOf(file) ?? "",
    etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
    body,
    br: brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    gzip: gzipSync(body),
  };
}
