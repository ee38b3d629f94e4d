/** Puts the objects of a back-up into a bucket, a few at a time; those that are there already stay. */
import { atOnce } from "../platform/at-once.ts";
import type { BackupStore } from "./backup-store.ts";
import type { Bucket } from "./bucket.ts";
import type { CheckedObject } from "./check-files.ts";
import { UnusableBackup } from "./manifest.ts";
import { LEFT_OUT_OBJECTS } from "./save-objects.ts";

const AT_ONCE = 8;
/** Keys that are named. */
const MOST_NAMED = 5;

/**
 * @returns keys of objects that are in the bucket already, as they are in the back-up
 * @throws UnusableBackup where it holds others
 */
export async function findPresent(bucket: Bucket, objects: readonly CheckedObject[]): Promise<Set<string>> {
  const wanted = new Map(objects.map((object) => [object.key, object]));
  const present = new Set<string>();
  const foreign: string[] = [];
  for await (const page of bucket.list("")) {
    for (const { key, bytes, etag } of page) {
      if (LEFT_OUT_OBJECTS.some(({ prefix }) => key.startsWith(prefix))) continue;
      const object = wanted.get(key);
      if (object === undefined) foreign.push(key);
      else if (object.bytes === bytes && object.newEtag === etag) present.add(key);
    }
  }
  if (foreign.length === 0) return present;
  const named = foreign.slice(0, MOST_NAMED).join(", ") + (foreign.length > MOST_NAMED ? ", …" : "");
  throw new UnusableBackup(
    `The bucket ${bucket.name} holds ${foreign.length} objects that are not in the back-up (${named}); ` +
      "nothing was restored",
    "Restore into a new installation: another STRANDLINE_HOME, or another stack",
  );
}

/** @returns those that S3 names otherwise than expected, as where a bucket encrypts with a key of KMS */
export async function restoreObjects(
  bucket: Bucket,
  store: BackupStore,
  objects: Iterable<CheckedObject>,
  onObject?: () => void,
): Promise<{ key: string; etag: string }[]> {
  const unexpected: { key: string; etag: string }[] = [];
  await atOnce(AT_ONCE, objects, async ({ key, file, headers, newEtag }) => {
    const etag = await bucket.put(key, store.read(file), headers);
    if (etag !== newEtag) unexpected.push({ key, etag });
    onObject?.();
  });
  return unexpected;
}
