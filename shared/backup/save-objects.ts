/**
 * Copies the objects of the bucket, a few at a time. Which were copied is written down as it goes, so that a back-up
 * that was broken off goes on, and the next one into the same place copies only what is new.
 */
import { createHash } from "node:crypto";
import { atOnce } from "../platform/at-once.ts";
import type { BackupStore } from "./backup-store.ts";
import type { Bucket } from "./bucket.ts";
import { type BackupFile, INDEX, type Manifest, OBJECTS, readIndex, type SavedObject } from "./manifest.ts";
import { textChunks, writeFile } from "./written-file.ts";

/** Prefixes of objects that are not saved, and why. */
export const LEFT_OUT_OBJECTS = [{ prefix: "cache/", reason: "made again when it is asked for" }];

const AT_ONCE = 8;
/** Objects in an index file. */
const INDEXED = 500;

export interface SavedObjects extends Omit<Manifest["objects"], "missing" | "left_out"> {
  keys: Set<string>;
  /** Of the back-up. */
  files: Set<string>;
  /** Of `count`, how many a back-up before had copied already. */
  reused: number;
}

export async function saveObjects(
  bucket: Bucket,
  store: BackupStore,
  { run, onObject }: { run: string; onObject?: (object: SavedObject) => void },
): Promise<SavedObjects> {
  const known = await readKnown(store);
  const saved: SavedObjects = { count: 0, bytes: 0, index: [], keys: new Set(), files: new Set(), reused: 0 };
  let pending: SavedObject[] = [];
  const flush = async () => {
    const lines = pending;
    pending = [];
    if (lines.length > 0) saved.index.push(await writeIndex(store, run, saved.index.length, lines));
  };
  for await (const page of bucket.list("")) {
    const wanted = page.filter(({ key }) => !LEFT_OUT_OBJECTS.some(({ prefix }) => key.startsWith(prefix)));
    for (let at = 0; at < wanted.length; at += INDEXED) {
      await atOnce(AT_ONCE, wanted.slice(at, at + INDEXED), async ({ key, bytes, etag }) => {
        const before = known.get(key);
        const isThere = before?.bytes === bytes && before.etag === etag && (await store.size(before.file)) === bytes;
        const object = isThere ? before : await saveObject(bucket, store, key);
        // deleted since it was listed
        if (object === undefined) return;
        if (isThere) saved.reused += 1;
        saved.count += 1;
        saved.bytes += object.bytes;
        saved.keys.add(key);
        saved.files.add(object.file);
        pending.push(object);
        onObject?.(object);
      });
      await flush();
    }
  }
  return saved;
}

async function writeIndex(
  store: BackupStore,
  run: string,
  number: number,
  objects: readonly SavedObject[],
): Promise<BackupFile> {
  const file = `${INDEX}/${run}-${String(number).padStart(6, "0")}.jsonl`;
  return await writeFile(store, file, textChunks(objects.map((each) => `${JSON.stringify(each)}\n`).join("")));
}

/** What earlier runs have written down, whether they ended or not. */
async function readKnown(store: BackupStore): Promise<Map<string, SavedObject>> {
  const files: string[] = [];
  for await (const file of store.list(INDEX)) files.push(file);
  const known = new Map<string, SavedObject>();
  // names begin with the time
  for (const file of files.sort()) for (const object of await readIndex(store, file)) known.set(object.key, object);
  return known;
}

async function saveObject(bucket: Bucket, store: BackupStore, key: string): Promise<SavedObject | undefined> {
  const found = await bucket.get(key);
  if (found === undefined) return undefined;
  const written = await writeFile(store, fileOf(key), found.body);
  return { key, ...written, etag: found.etag, headers: found.headers };
}

/** The longest name that file systems take, with room for what is put behind it. */
const LONGEST_NAME = 200;

/** The key as a path that every file system takes, and that leads nowhere else. */
function fileOf(key: string): string {
  const names = key.split("/").map((name) => {
    const safe = encodeURIComponent(name).replace(/^\.|[!'()*~]/g, (found) => `%${found.charCodeAt(0).toString(16)}`);
    if (safe !== "" && safe.length <= LONGEST_NAME && !safe.endsWith(".partial")) return safe;
    return `%${createHash("sha256").update(name).digest("hex")}`;
  });
  return `${OBJECTS}/${names.join("/")}`;
}
