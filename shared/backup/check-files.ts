/** Reads a back-up through, so that one that is damaged is refused before anything is restored of it. */
import { createHash } from "node:crypto";
import { atOnce } from "../platform/at-once.ts";
import { type BackupStore, FileMissing } from "./backup-store.ts";
import { createEtag } from "./bucket.ts";
import { type BackupFile, type Manifest, readIndex, type SavedObject, UnusableBackup } from "./manifest.ts";

/** An object as it will be in the bucket that it is restored to. */
export interface CheckedObject extends SavedObject {
  /** What S3 says of it there. */
  newEtag: string;
}

const AT_ONCE = 4;
/** Faults that are named. */
const MOST_NAMED = 20;

/**
 * @returns the objects, in the order of their index
 * @throws UnusableBackup that names the files which are missing or are not what they were
 */
export async function checkFiles(
  store: BackupStore,
  { tables, objects: { index } }: Manifest,
  onFile?: () => void,
): Promise<CheckedObject[]> {
  const faults: string[] = [];
  const check = async (file: BackupFile): Promise<string> => {
    const { fault, etag } = await checkFile(store, file);
    if (fault !== undefined) faults.push(fault);
    onFile?.();
    return etag;
  };
  await atOnce(AT_ONCE, [...tables, ...index], async (file) => void (await check(file)));
  refuse(store, faults);
  const objects: CheckedObject[] = [];
  for (const { file } of index) {
    await atOnce(AT_ONCE, await readIndex(store, file), async (object) => {
      objects.push({ ...object, newEtag: await check(object) });
    });
  }
  refuse(store, faults);
  return objects;
}

function refuse({ address }: BackupStore, faults: readonly string[]): void {
  if (faults.length === 0) return;
  const named = faults.slice(0, MOST_NAMED).map((fault) => `\n  ${fault}`);
  const more = faults.length > MOST_NAMED ? `\n  and ${faults.length - MOST_NAMED} more` : "";
  throw new UnusableBackup(
    `${faults.length} files of ${address} are not as they were written; nothing was restored:${named.join("")}${more}`,
    "Copy them from where the back-up was copied from, or make it again: only what differs is written",
  );
}

async function checkFile(
  store: BackupStore,
  { file, bytes, sha256 }: BackupFile,
): Promise<{ fault?: string; etag: string }> {
  const hash = createHash("sha256");
  const etag = createEtag();
  let read = 0;
  try {
    for await (const chunk of store.read(file)) {
      hash.update(chunk);
      etag.update(chunk);
      read += chunk.length;
    }
  } catch (error) {
    if (error instanceof FileMissing) return { fault: `${file} is missing`, etag: "" };
    throw error;
  }
  const result = { etag: etag.digest() };
  if (read !== bytes) return { ...result, fault: `${file} has ${read} bytes instead of ${bytes}` };
  return hash.digest("hex") === sha256 ? result : { ...result, fault: `${file} has another content` };
}
