/** Writes a file of a back-up, and says what it holds. */
import { createHash } from "node:crypto";
import type { BackupStore } from "./backup-store.ts";
import type { BackupFile } from "./manifest.ts";

export async function writeFile(
  store: BackupStore,
  file: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<BackupFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  }
  await store.write(file, counted());
  return { file, bytes, sha256: hash.digest("hex") };
}

export async function* textChunks(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
