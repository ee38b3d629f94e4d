/** What a back-up is made of: `manifest.json`, which is written last, so that a back-up with one is whole. */
import { z } from "zod";
import type { BackupStore } from "./backup-store.ts";
import { FileMissing } from "./backup-store.ts";
import { objectHeadersSchema } from "./bucket.ts";

export const MANIFEST = "manifest.json";
export const OBJECTS = "objects";
export const INDEX = "index";
export const DATABASE = "database";

const count = z.int().nonnegative();
const fileSchema = z.strictObject({ file: z.string(), bytes: count, sha256: z.string() });
export type BackupFile = z.infer<typeof fileSchema>;

const tableSchema = fileSchema.extend({ name: z.string(), columns: z.array(z.string()).min(1), rows: count });
export type TableFile = z.infer<typeof tableSchema>;

const manifestSchema = z.strictObject({
  format: z.literal("strandline-backup"),
  version: z.literal(1),
  /** Tells back-ups apart: the time of their snapshot, and something random. */
  id: z.string(),
  /** Of the product. */
  product: z.string(),
  /** ISO 8601, of the snapshot. */
  created_at: z.string(),
  /** Migrations that were applied. */
  schema: z.array(z.string()),
  tables: z.array(tableSchema),
  tables_left_out: z.array(z.strictObject({ table: z.string(), reason: z.string() })),
  sequences: z.record(z.string(), count),
  objects: z.strictObject({
    count,
    bytes: count,
    index: z.array(fileSchema),
    /** Keys that rows speak of, and that the bucket no longer had. */
    missing: z.array(z.string()),
    left_out: z.array(z.strictObject({ prefix: z.string(), reason: z.string() })),
  }),
  vectors: z.string(),
  secrets: z.strictObject({
    /** With which a passphrase opens them; null: they are left out. */
    seal: z.strictObject({ salt: z.string(), check: z.string() }).nullable(),
    /** Rows whose secrets are to be set again, by table and column. */
    left_out: z.record(z.string(), z.array(z.string())),
  }),
  /** Settings by their environment variables, without secrets and addresses. */
  settings: z.record(z.string(), z.string()),
  /** Settings that were made and are not here: secrets, and addresses of this installation. */
  settings_left_out: z.array(z.string()),
});
export type Manifest = z.infer<typeof manifestSchema>;

export const objectSchema = z.strictObject({
  key: z.string(),
  /** In the back-up. */
  file: z.string(),
  bytes: count,
  sha256: z.string(),
  /** In the bucket that it comes from. */
  etag: z.string(),
  headers: objectHeadersSchema,
});
export type SavedObject = z.infer<typeof objectSchema>;

/** A folder or a bucket holds no back-up that can be restored. */
export class UnusableBackup extends Error {
  override readonly name = "UnusableBackup";
  /** What to do about it. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** @returns undefined where there is none */
export async function findManifest(store: BackupStore): Promise<Manifest | undefined> {
  let json: unknown;
  try {
    json = JSON.parse(await readText(store, MANIFEST));
  } catch (error) {
    if (error instanceof FileMissing) return undefined;
    if (error instanceof SyntaxError) throw new UnusableBackup(`${MANIFEST} of ${store.address} is no JSON`);
    throw error;
  }
  const { format, version } = z
    .looseObject({ format: z.unknown().optional(), version: z.unknown().optional() })
    .parse(json);
  if (format === "strandline-backup" && version !== 1) {
    throw new UnusableBackup(
      `${store.address} is a back-up of version ${String(version)}, of which this Strandline knows nothing`,
      "Restore it with the version of Strandline that wrote it, or a newer one",
    );
  }
  const read = manifestSchema.safeParse(json);
  if (read.success) return read.data;
  throw new UnusableBackup(
    `${MANIFEST} of ${store.address} is not as a back-up writes it: ${z.prettifyError(read.error)}`,
  );
}

/** @throws UnusableBackup where there is none, or only a part of one */
export async function readManifest(store: BackupStore): Promise<Manifest> {
  const found = await findManifest(store);
  if (found !== undefined) return found;
  for await (const _ of store.list("")) {
    throw new UnusableBackup(
      `${store.address} has no ${MANIFEST}: a back-up was begun there and did not end, or it is none`,
      "Run `strandline backup` with the same folder or prefix again: it goes on with what is there",
    );
  }
  throw new UnusableBackup(`There is no back-up in ${store.address}: it is empty, or not there`);
}

async function readText(store: BackupStore, file: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.read(file)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** The objects that the lines of an index file name. */
export async function readIndex(store: BackupStore, file: string): Promise<SavedObject[]> {
  const lines = (await readText(store, file)).split("\n").filter((line) => line !== "");
  return lines.map((line) => objectSchema.parse(JSON.parse(line)));
}
