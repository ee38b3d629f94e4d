/**
 * Makes a back-up: first the rows, as of one moment, then the objects, which stay for a while after no row speaks of
 * them any more.
 */
import { randomBytes } from "node:crypto";
import type { Sql } from "../platform/database/database.ts";
import type { BackupStore } from "./backup-store.ts";
import type { Bucket } from "./bucket.ts";
import {
  DATABASE,
  findManifest,
  INDEX,
  MANIFEST,
  type Manifest,
  OBJECTS,
  type TableFile,
  UnusableBackup,
} from "./manifest.ts";
import { saveDatabase } from "./save-database.ts";
import { LEFT_OUT_OBJECTS, saveObjects } from "./save-objects.ts";
import { createSeal, hideSecret } from "./secrets.ts";
import { VECTOR_TABLE } from "./tables.ts";
import { textChunks } from "./written-file.ts";

export interface BackupSource {
  sql: Sql;
  bucket: Bucket;
  settings: Pick<Manifest, "settings" | "settings_left_out">;
  /** Of the product. */
  version: string;
}

export interface BackupOptions {
  /** Seals the secrets; they are left out where there is none. */
  passphrase?: string | undefined;
  onTable?: (table: TableFile) => void;
  onObject?: () => void;
}

/** @returns what was written, and how many of its objects were there already */
export async function backUp(
  { sql, bucket, settings, version }: BackupSource,
  store: BackupStore,
  { passphrase, onTable, onObject }: BackupOptions = {},
): Promise<{ manifest: Manifest; reused: number }> {
  const run = `${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "")}-${randomBytes(3).toString("hex")}`;
  await begin(store, run);
  const sealed = passphrase === undefined ? undefined : await createSeal(passphrase);
  const { replace = hideSecret, seal = null } = sealed ?? {};
  const database = await saveDatabase(sql, store, { run, replace, ...(onTable && { onTable }) });
  const { keys, files, reused, ...objects } = await saveObjects(bucket, store, { run, ...(onObject && { onObject }) });
  const { withoutSecrets, referenced, ...rows } = database;
  const manifest: Manifest = {
    format: "strandline-backup",
    version: 1,
    id: run,
    product: version,
    ...rows,
    objects: {
      ...objects,
      missing: [...referenced].filter((key) => !keys.has(key)).sort(),
      left_out: LEFT_OUT_OBJECTS,
    },
    vectors: VECTOR_TABLE,
    secrets: {
      seal,
      left_out: Object.fromEntries([...withoutSecrets].map(([place, ids]) => [place, [...ids].sort()])),
    },
    ...settings,
  };
  await store.write(MANIFEST, textChunks(`${JSON.stringify(manifest, null, 2)}\n`));
  await end(store, manifest, files);
  return { manifest, reused };
}

/** There from the beginning of a back-up to its end. */
const UNFINISHED = "unfinished.json";

/** @throws UnusableBackup where something else lies there: files of that would be removed at the end */
async function begin(store: BackupStore, run: string): Promise<void> {
  if ((await findManifest(store)) === undefined && (await store.size(UNFINISHED)) === undefined) {
    for await (const file of store.list("")) {
      throw new UnusableBackup(
        `${store.address} is no back-up, and not empty: it holds ${file}`,
        "Name a folder or prefix that is not there yet, or one with an earlier back-up",
      );
    }
  }
  await store.write(UNFINISHED, textChunks(`${JSON.stringify({ run })}\n`));
}

/** Removes files of back-ups before, which the manifest speaks of no more. */
async function end(store: BackupStore, { tables, objects }: Manifest, objectFiles: ReadonlySet<string>): Promise<void> {
  const kept = new Set([...tables, ...objects.index].map(({ file }) => file));
  for (const folder of [DATABASE, INDEX, OBJECTS]) {
    for await (const file of store.list(folder)) {
      if (!kept.has(file) && !objectFiles.has(file)) await store.remove(file);
    }
  }
  await store.remove(UNFINISHED);
}
