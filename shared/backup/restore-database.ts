/** Loads the tables of a back-up in one transaction: all of them are there afterwards, or none. */

import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Queryable, Sql, Transaction } from "../platform/database/database.ts";
import { applyMigrations, lockSchema, migrationFiles } from "../platform/database/migrations.ts";
import type { BackupStore } from "./backup-store.ts";
import { changeRows } from "./copy-text.ts";
import { type Manifest, type TableFile, UnusableBackup } from "./manifest.ts";
import { type ReplaceSecret, type RowsWithoutSecrets, secretsOfRows } from "./secrets.ts";
import { readSchema, readTables } from "./tables.ts";
import { withoutTheirSecrets } from "./without-secrets.ts";

/** Tables in which an installation that holds nothing may have rows: its own key, what it counts, where it begins. */
const OF_THE_INSTALLATION = new Set([
  "api_keys",
  "archive_languages",
  "archive_usage",
  "archive_words",
  "cache_counts",
  "changes_backfill",
  "chunk_sets",
  "corpus_statistics",
  "domain_counts",
  "embedding_models",
  "key_usage",
  "lexeme_statistics",
  "search_changes",
  "signing_keys",
]);

/** Rows that are in the way of a restore, by table. */
export async function readContent(sql: Queryable): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const { name } of (await readTables(sql)).saved) {
    if (OF_THE_INSTALLATION.has(name)) continue;
    const [row] = await sql.unsafe<{ rows: number }[]>(`select count(*)::int as rows from "${name}"`);
    if (row !== undefined && row.rows > 0) found.set(name, row.rows);
  }
  return found;
}

/**
 * @throws UnusableBackup where the back-up knows migrations that are not here
 * @returns whether the back-up's schema is an older one
 */
export async function checkSchema({ schema, product }: Manifest, directory?: string): Promise<boolean> {
  const files = await migrationFiles(directory);
  const unknown = schema.filter((name) => !files.includes(name));
  if (unknown.length > 0) {
    throw new UnusableBackup(
      `The back-up comes from a newer Strandline (${product}): ${unknown.join(", ")} ${unknown.length === 1 ? "is" : "are"} not known here`,
      "Restore it with that version, or a newer one",
    );
  }
  return schema.length < files.length;
}

export interface RestoreOptions {
  open: ReplaceSecret;
  /** ETags that rows speak of, by key. */
  etags: readonly { key: string; etag: string }[];
  onTable?: (table: TableFile) => void;
  /** Of the migrations; those of the product where not given. */
  migrations?: string;
}

/**
 * Replaces the rows of an installation that holds nothing; its API keys stay beside those of the back-up.
 * @returns rows whose secrets are to be set again
 */
export async function restoreDatabase(
  sql: Sql,
  store: BackupStore,
  manifest: Manifest,
  { open, etags, onTable, migrations }: RestoreOptions,
): Promise<RowsWithoutSecrets> {
  const isOlder = await checkSchema(manifest, migrations);
  const left: RowsWithoutSecrets = new Map();
  await sql.begin(async (tx) => {
    await tx`select set_config('statement_timeout', '0', true)`;
    await lockSchema(tx);
    await keepOwnKeys(tx);
    if (isOlder) {
      // with the rows come the migrations that they have not been through
      await tx.unsafe("drop schema public cascade; create schema public");
      await applyMigrations(tx, manifest.schema, migrations);
    }
    await withoutTriggers(tx);
    await empty(tx);
    for (const table of manifest.tables) {
      await loadTable(tx, store, table, { open, left });
      onTable?.(table);
    }
    await setSequences(tx, manifest.sequences);
    await tx`set local session_replication_role = origin`;
    await applyMigrations(tx, await migrationFiles(migrations), migrations);
    await setEtags(tx, etags);
    await withoutTheirSecrets(tx, left);
    await beginAnew(tx);
    await addOwnKeys(tx);
  });
  return left;
}

async function keepOwnKeys(tx: Transaction): Promise<void> {
  if ((await readSchema(tx)).length === 0) await tx`create temporary table own_keys () on commit drop`;
  else await tx`create temporary table own_keys on commit drop as select * from api_keys`;
}

/** A key that both have is the one of the back-up. */
async function addOwnKeys(tx: Transaction): Promise<void> {
  const columns = await tx<{ name: string }[]>`
    select a.attname as name from pg_attribute a where a.attrelid = 'own_keys'::regclass and a.attnum > 0`;
  if (columns.length === 0) return;
  const listed = columns.map(({ name }) => `"${name}"`).join(", ");
  await tx.unsafe(`
    insert into api_keys (${listed}) select ${listed} from own_keys own
    where not exists (select from api_keys known where known.key_hash = own.key_hash or known.id = own.id)`);
}

/** Foreign keys and triggers hold in the back-up already, and cost more than the rows. */
async function withoutTriggers(tx: Transaction): Promise<void> {
  try {
    await tx.savepoint((inner) => inner`set local session_replication_role = replica`);
  } catch (cause) {
    throw new UnusableBackup(
      `The database user may not switch off triggers (${cause instanceof Error ? cause.message : String(cause)})`,
      "Restore as the user that the deployment made, or as a superuser",
    );
  }
}

/** @throws UnusableBackup where somebody was faster */
async function empty(tx: Transaction): Promise<void> {
  const { saved } = await readTables(tx);
  // readers see it empty until the end
  await tx.unsafe(`lock table ${saved.map(({ name }) => `"${name}"`).join(", ")} in share row exclusive mode`);
  refuseContent(await readContent(tx));
  for (const { name } of saved) await tx.unsafe(`delete from "${name}"`);
}

/** @throws UnusableBackup that says what is there */
export function refuseContent(content: ReadonlyMap<string, number>): void {
  if (content.size === 0) return;
  const found = [...content].map(([table, rows]) => `${table} ${rows}`).join(", ");
  throw new UnusableBackup(
    `The database is not empty (rows: ${found}); nothing was restored`,
    "Restore into a new installation: another STRANDLINE_HOME, or another stack",
  );
}

async function loadTable(
  tx: Transaction,
  store: BackupStore,
  { name, columns, file, rows }: TableFile,
  { open, left }: { open: ReplaceSecret; left: RowsWithoutSecrets },
): Promise<void> {
  const listed = columns.map((column) => `"${column}"`).join(", ");
  const statement = tx.unsafe(`copy "${name}" (${listed}) from stdin`);
  // the client has given the stream by then, and tells nobody that the rows were refused
  const { promise: refused, reject } = Promise.withResolvers<never>();
  refused.catch(() => undefined);
  Object.assign(statement, { reject });
  const target = (await Promise.race([statement.writable(), refused])) as Writable;
  const change = secretsOfRows(name, columns, open, left);
  const gunzip = createGunzip();
  const reading = pipeline(store.read(file), gunzip);
  const source = change === undefined ? gunzip : changeRows(gunzip, change);
  const loading = pipeline(source, target);
  loading.catch(() => undefined);
  const loaded = Promise.race([loading, refused]);
  try {
    await Promise.all([reading, loaded]);
  } catch (error) {
    gunzip.destroy();
    // the connection takes no other statement, the end of the transaction among them, before this one has ended
    await loaded.catch(() => undefined);
    throw error;
  }
  const [found] = await tx.unsafe<{ rows: number }[]>(`select count(*)::int as rows from "${name}"`);
  if (found?.rows === rows) return;
  throw new UnusableBackup(`${file} holds ${found?.rows} rows of ${name} instead of ${rows}; nothing was restored`);
}

/** Never back: what has seen a number is not to see it again with another meaning. */
async function setSequences(tx: Transaction, sequences: Readonly<Record<string, number>>): Promise<void> {
  for (const [name, last] of Object.entries(sequences)) {
    await tx`
      select setval(format('public.%I', sequencename)::regclass, greatest(coalesce(last_value, 1), ${last}::bigint))
      from pg_sequences where schemaname = 'public' and sequencename = ${name}`;
  }
}

/** Of objects that S3 names otherwise than it did where they come from. */
export async function setEtags(tx: Queryable, etags: RestoreOptions["etags"]): Promise<void> {
  if (etags.length === 0) return;
  const [keys, values] = [etags.map(({ key }) => key), etags.map(({ etag }) => etag)];
  for (const [table, column] of [
    ["warc_files", "key"],
    ["warc_imports", "object_key"],
  ] as const) {
    await tx`
      update ${tx(table)} known set etag = moved.etag
      from unnest(${keys}::text[], ${values}::text[]) moved (key, etag)
      where known.${tx(column)} = moved.key and known.etag is not null and known.etag <> moved.etag`;
  }
}

/** What the state table, the queues and the scheduler hold of an installation is made again from these rows. */
async function beginAnew(tx: Transaction): Promise<void> {
  await tx`update domain_settings set applied_revision = 0`;
  await tx`
    update crawl_sources set schedule_pending = true, schedule_told_at = now() - interval '1 day'
    where deleted_at is null and schedule_cron is not null`;
  // answers that were kept of the empty installation are none of this one
  await tx`insert into search_changes default values`;
}
