/**
 * The WARC objects of the bucket and what points at them. Nothing but `removeFile` makes an object go, and it does so
 * where no capture points at it; `captures` refuses, or leads elsewhere, whoever comes later (0021_warc_files.sql).
 */
import type { ListedObjects } from "../../platform/aws/listed-objects.ts";
import { inTransaction, type Queryable, type Sql, type Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";

export interface WarcFileView {
  key: string;
  bytes: number;
  /** Hex; null where it was never read to its end. */
  sha256: string | null;
  records: number | null;
  /** Captures that point at it. */
  captures: number;
  faults: number | null;
  writtenAt: Date;
  verifiedAt: Date | null;
  /** The file that has its records, and to which its captures point. */
  mergedInto: string | null;
  /** Where its bytes begin in that. */
  mergedOffset: number | null;
  unusedSince: Date | null;
  removedAt: Date | null;
}

/** In the order of their keys; those that have gone are left out. */
export async function listWarcFiles(
  sql: Sql,
  { limit, after = "", unused }: { limit: number; after?: string | undefined; unused?: boolean | undefined },
): Promise<WarcFileView[]> {
  return await sql<WarcFileView[]>`
    select key, bytes, sha256, records, captures_in(key)::int as captures, faults, written_at as "writtenAt",
      verified_at as "verifiedAt", merged_into as "mergedInto", merged_offset as "mergedOffset",
      unused_since as "unusedSince", removed_at as "removedAt"
    from warc_files
    where key > ${after} and deleted_at is null
      and ${unused === undefined ? sql`true` : sql`(captures_in(key) = 0) = ${unused}`}
    order by key limit ${limit}`;
}

/** Where files are looked for, one after the other. */
const PREFIXES = ["incoming/", "warcs/", "archive-jobs/"];
const IS_WARC = /\.(warc(\.gz|\.zst)?|arc(\.gz)?|wacz)$/;
/** What else engines leave stays with them: these are WARC files of runs that have not become those of the archive. */
const IS_TEMPORARY = /^archive-jobs\/.*\/tmp\/.*\.warc\.gz$/;

/** As `IS_TEMPORARY`, of the key of the file `f`. */
export const isTemporary = (sql: Queryable) => sql`f.key like 'archive-jobs/%/tmp/%.warc.gz'`;

/** Whether it is a file that captures may point at. */
export const isWarcFile = (key: string): boolean =>
  key.startsWith("archive-jobs/") ? IS_TEMPORARY.test(key) : IS_WARC.test(key);
const KEYS_AT_ONCE = 1000;

export interface Listing {
  phase: number;
  after: string;
}
/** The phase in which all files are known. */
export const LISTED = PREFIXES.length + 1;

/**
 * Notes the files of one listing of the bucket, or those that captures point at and that the bucket does not have.
 * @returns where the next listing begins
 */
export async function listFiles(
  sql: Sql,
  objects: Pick<ListedObjects, "list">,
  { phase, after }: Listing,
): Promise<Listing> {
  const prefix = PREFIXES[phase];
  if (prefix === undefined) return await notePointedFiles(sql, after);
  const found = await objects.list(prefix, after);
  const rows = found.filter(({ key }) => isWarcFile(key));
  // an object that was replaced is found by its row, unless nothing was known of it but that captures point there
  await sql`
    insert into warc_files (key, bytes, etag, written_at)
    select key, bytes, etag, written_at
    from json_to_recordset(${rowsOf(rows.map(({ writtenAt, ...row }) => ({ ...row, written_at: writtenAt })))}::text::json)
      as r (key text, bytes bigint, etag text, written_at timestamptz)
    on conflict (key) do update set (bytes, etag, written_at) = (excluded.bytes, excluded.etag, excluded.written_at)
      where warc_files.etag = '' and warc_files.removed_at is null`;
  const last = found.at(-1);
  return last === undefined ? { phase: phase + 1, after: "" } : { phase, after: last.key };
}

async function notePointedFiles(sql: Sql, after: string): Promise<Listing> {
  const next = (from: ReturnType<Queryable>) => sql`
    select min(warc_key) from captures where warc_key > ${from} and reused_from is null`;
  const keys = await sql<{ key: string }[]>`
    with recursive keys (key) as (
      (${next(sql`${after}`)})
      union all select (${next(sql`keys.key`)}) from keys where keys.key is not null)
    select key from keys where key is not null limit ${KEYS_AT_ONCE}`;
  await sql`
    insert into warc_files (key, bytes, etag, written_at)
    select key, 0, '', 'epoch' from unnest(${keys.map(({ key }) => key)}::text[]) key on conflict (key) do nothing`;
  const last = keys.at(-1);
  return last === undefined || keys.length < KEYS_AT_ONCE
    ? { phase: LISTED, after: "" }
    : { phase: LISTED - 1, after: last.key };
}

/** Keeps all others from writing captures that point at the files, until the transaction ends. */
export async function lockFiles(tx: Transaction, keys: readonly string[]): Promise<void> {
  await tx`select pg_advisory_xact_lock(warc_lock(key)) from unnest(${[...keys].sort()}::text[]) key`;
}

/**
 * Deletes an object at which no capture points. Whoever stops in between leaves a row that
 * the next call finds.
 * @returns false where captures point at it
 */
export async function removeFile(sql: Sql, objects: Pick<ListedObjects, "remove">, key: string): Promise<boolean> {
  const isFree = await inTransaction(sql, async (tx) => {
    await lockFiles(tx, [key]);
    const { count } = await tx`
      update warc_files set removed_at = coalesce(removed_at, now())
      where key = ${key} and deleted_at is null and captures_in(key) = 0`;
    return count === 1;
  });
  if (!isFree) return false;
  await objects.remove(key);
  await sql`update warc_files set deleted_at = now() where key = ${key}`;
  return true;
}

export interface MergedFile {
  key: string;
  /** Where its bytes begin in the new file. */
  offset: number;
}

/**
 * Points the captures of files at their copies in another file, all of them or none.
 * @returns how many captures were moved, and the files that have become free
 */
export async function moveCaptures(
  sql: Sql,
  into: string,
  files: readonly MergedFile[],
): Promise<{ captures: number; files: number }> {
  return await inTransaction(sql, async (tx) => {
    await lockFiles(tx, [into, ...files.map(({ key }) => key)]);
    const moved = rowsOf(files.map(({ key, offset }) => ({ key, at: offset })));
    // another run may have moved or removed one of them
    const free = await tx<{ key: string }[]>`
      update warc_files f set merged_into = ${into}, merged_offset = r.at, merged_at = now()
      from json_to_recordset(${moved}::text::json) as r (key text, at bigint)
      where f.key = r.key and f.merged_into is null and f.removed_at is null
        and exists (select from warc_files t where t.key = ${into} and t.merged_into is null and t.removed_at is null)
      returning f.key`;
    const keys = free.map(({ key }) => key);
    // what was copied into one of them is found in the new file at once
    await tx`
      update warc_files f set merged_into = ${into}, merged_offset = f.merged_offset + r.at
      from json_to_recordset(${moved}::text::json) as r (key text, at bigint)
      where f.merged_into = r.key and r.key = any (${keys})`;
    let captures = 0;
    // each has an index of its own
    for (const kind of [tx`c.reused_from is null`, tx`c.reused_from is not null`]) {
      const { count } = await tx`
        update captures c set warc_key = f.merged_into, warc_offset = c.warc_offset + f.merged_offset
        from warc_files f
        where f.key = any (${keys}) and c.warc_key = f.key and ${kind}`;
      captures += count;
    }
    await tx`
      update captures c set rendered = jsonb_set(c.rendered, '{warc}', c.rendered->'warc' || jsonb_build_object(
        'key', f.merged_into, 'offset', (c.rendered->'warc'->>'offset')::bigint + f.merged_offset))
      from warc_files f
      where f.key = any (${keys}) and c.rendered->'warc'->>'key' = f.key`;
    return { captures, files: keys.length };
  });
}
