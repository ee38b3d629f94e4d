/** Where a back-up lies: files by their paths, in a folder or below a prefix of a bucket. */
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";

export interface BackupStore {
  /** As whoever asked named it. */
  address: string;
  /** @throws FileMissing */
  read(file: string): AsyncIterable<Uint8Array>;
  /** The file is there as a whole afterwards, and as it was before then. */
  write(file: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** In bytes; undefined where there is no such file. */
  size(file: string): Promise<number | undefined>;
  /** Paths of the files below a folder, in any order. */
  list(folder: string): AsyncIterable<string>;
  remove(file: string): Promise<void>;
}

export class FileMissing extends Error {
  constructor(address: string, file: string) {
    super(`There is no file ${file} in ${address}`);
    this.name = "FileMissing";
  }
}

/** Nobody but its owner may look in: it holds what was crawled, and the hashes of keys. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Of a file that is still being written. */
const PARTIAL = ".partial";

export function createFolderStore(folder: string): BackupStore {
  const root = resolve(folder);
  const pathOf = (file: string) => join(root, ...file.split("/"));
  return {
    address: folder,
    async *read(file) {
      try {
        yield* createReadStream(pathOf(file));
      } catch (error) {
        throw isMissing(error) ? new FileMissing(folder, file) : error;
      }
    },
    async write(file, chunks) {
      const path = pathOf(file);
      await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
      await pipeline(chunks, createWriteStream(`${path}${PARTIAL}`, { mode: FILE_MODE }));
      // on the disk before it has its name
      const written = await open(`${path}${PARTIAL}`, "r+");
      await written.sync().finally(() => written.close());
      await rename(`${path}${PARTIAL}`, path);
    },
    async size(file) {
      const found = await stat(pathOf(file)).catch(unlessMissing);
      return found?.isFile() ? found.size : undefined;
    },
    async *list(below) {
      const entries = await readdir(pathOf(below), { recursive: true, withFileTypes: true }).catch(unlessMissing);
      for (const entry of entries ?? []) {
        if (entry.isFile() && !entry.name.endsWith(PARTIAL))
          yield relative(root, join(entry.parentPath, entry.name)).split(sep).join("/");
      }
    },
    remove: (file) => rm(pathOf(file), { force: true }),
  };
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
  return undefined;
}
