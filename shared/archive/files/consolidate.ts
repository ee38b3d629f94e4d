/**
 * Copies many small WARC files into one large one, byte for byte, and points their captures there: docs/decisions/0057.
 * So it does with those that archive jobs keep among their temporary files, which are to be deleted with these.
 * The files stay until `clean` finds that nothing points at them and that their bytes are in the new one.
 */
import { createHash } from "node:crypto";
import { newRecordId, warcinfoRecord } from "../../capture/warc-record.ts";
import type { OpenObjectWriter } from "../../platform/aws/multipart.ts";
import type { Uploads } from "../../platform/aws/uploads.ts";
import type { Sql } from "../../platform/database/database.ts";
import { RetryableError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import type { Logger } from "../../platform/observability/log.ts";
import type { FileFault } from "./task.ts";
import { type KnownFile, verifyFile } from "./verify-file.ts";
import { isTemporary, type MergedFile, moveCaptures } from "./warc-files.ts";

export interface ConsolidationDependencies {
  sql: Sql;
  uploads: Pick<Uploads, "head" | "stream">;
  openWriter: OpenObjectWriter;
  log: Logger;
}

export interface ConsolidationOptions {
  /** Bytes that a new file has, as far as there are enough small ones. */
  targetBytes: number;
  /** Files that are worth a new one. */
  leastFiles: number;
  /** How long a file has been there, in ms. */
  leastAgeMs: number;
  now: number;
}

export interface Consolidated {
  /** Of the last file that was looked at. */
  after: string;
  done: boolean;
  files: number;
  captures: number;
  bytes: number;
  faults: (FileFault & { key: string })[];
}

/** Files whose captures are moved in one transaction: some thousand captures. */
const MOVED_AT_ONCE = 20;
const MOST_FILES = 5000;
/** Kept of a function's time. */
const RESERVE_MS = 60_000;
/** What copying and reading again take of a run's time: the first half of it is for the copy. */
const COPY_SHARE = 0.5;

interface Source extends KnownFile {
  /** Of an archive job, whose temporary files shall go: it is copied whatever its size, and if it is the only one. */
  temporary: boolean;
}

/** Makes one new file. */
export async function consolidate(
  dependencies: ConsolidationDependencies,
  after: string,
  options: ConsolidationOptions,
  remainingMs: () => number,
): Promise<Consolidated> {
  const { sql, log } = dependencies;
  const nothing: Consolidated = { after, done: true, files: 0, captures: 0, bytes: 0, faults: [] };
  const group = await smallFiles(sql, after, options);
  const least = group.some(({ temporary }) => temporary) ? 1 : Math.max(options.leastFiles, 2);
  if (group.length < least) return nothing;
  const until = remainingMs() * (1 - COPY_SHARE);
  const hasTime = () => remainingMs() > Math.max(until, RESERVE_MS);
  const copy = await copyFiles(dependencies, group, options, hasTime);
  const { faults, looked = after } = copy;
  if (copy.merged.length === 0) return { ...nothing, after: looked, done: false, faults };
  await checkCopy(dependencies, copy, () => {
    if (remainingMs() < RESERVE_MS / 2) throw outOfTime();
  });
  const moved = { files: 0, captures: 0 };
  for (let at = 0; at < copy.merged.length; at += MOVED_AT_ONCE) {
    const some = await moveCaptures(sql, copy.key, copy.merged.slice(at, at + MOVED_AT_ONCE));
    moved.files += some.files;
    moved.captures += some.captures;
  }
  log.info("WARC files were copied into one", { warc_key: copy.key, bytes: copy.bytes, ...moved });
  return { after: looked, done: false, ...moved, bytes: copy.bytes, faults };
}

/** Of jobs that have ended: what is still written to them would be late. */
async function smallFiles(
  sql: Sql,
  after: string,
  { targetBytes, leastAgeMs, now }: ConsolidationOptions,
): Promise<Source[]> {
  const rows = await sql<Source[]>`
    select key, bytes, etag, sha256, ${isTemporary(sql)} as temporary from warc_files f
    where key > ${after} and merged_into is null and removed_at is null
      and etag <> '' and written_at <= ${new Date(now - leastAgeMs)}
      and coalesce(faults, 0) = 0 and captures_in(key) > 0
      and case when ${isTemporary(sql)}
        then not exists (select from archive_jobs a
            where starts_with(f.key, a.output_dir) and a.status not in ('indexed', 'index_failed', 'failed'))
          and not exists (select from warc_imports i
            where i.object_key = f.key and i.status in ('announced', 'pending', 'running'))
        else key like 'warcs/%.warc.gz' and key not like 'warcs/imported/%' and bytes < ${targetBytes / 2}
          and not exists (
            select from jobs j where j.status in ('pending', 'running', 'embedding')
              and j.id = (case when split_part(f.key, '/', 5) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                then split_part(f.key, '/', 5) end)::uuid) end
    order by key limit ${MOST_FILES}`;
  let bytes = 0;
  return rows.filter((row) => {
    if (bytes >= targetBytes) return false;
    bytes += row.bytes;
    return true;
  });
}

interface Copy {
  key: string;
  bytes: number;
  merged: (MergedFile & Pick<Source, "bytes" | "temporary"> & { sha256: string })[];
  faults: Consolidated["faults"];
  /** The last file that was looked at; undefined where there was no time for any. */
  looked: string | undefined;
}

async function copyFiles(
  dependencies: ConsolidationDependencies,
  group: readonly Source[],
  { now }: ConsolidationOptions,
  hasTime: () => boolean,
): Promise<Copy> {
  const { uploads, openWriter, log } = dependencies;
  const day = new Date(now).toISOString().slice(0, 10).replaceAll("-", "/");
  const key = `warcs/merged/${day}/${uuidv7()}.warc.gz`;
  const copy: Copy = { key, bytes: 0, merged: [], faults: [], looked: undefined };
  const writer = await openWriter(key, "application/gzip");
  const whole = createHash("sha256");
  let records = 1;
  const write = async (bytes: Uint8Array) => {
    whole.update(bytes);
    copy.bytes += bytes.length;
    await writer.write(bytes);
  };
  try {
    await write(warcinfoOf(key, now));
    for (const source of group) {
      if (!hasTime()) break;
      copy.looked = source.key;
      const found = await verified(dependencies, source);
      copy.faults.push(...found.faults.map((fault) => ({ ...fault, key: source.key })));
      if (found.sha256 === null || found.faults.length > 0 || !found.plain) continue;
      const [offset, hash] = [copy.bytes, createHash("sha256")];
      for await (const bytes of uploads.stream(source.key, { offset: 0, etag: source.etag })) {
        hash.update(bytes);
        await write(bytes);
      }
      if (hash.digest("hex") !== found.sha256) throw changed(source.key);
      const { key, bytes, temporary } = source;
      copy.merged.push({ key, offset, bytes, temporary, sha256: found.sha256 });
      records += found.records ?? 0;
    }
    const isWorthIt = copy.merged.length > 1 || copy.merged.some(({ temporary }) => temporary);
    if (!isWorthIt) {
      await writer.abort();
      return { ...copy, merged: [] };
    }
    await writer.complete();
    await noteCopy(dependencies, copy, { sha256: whole.digest("hex"), records });
    return copy;
  } catch (error) {
    await writer.abort().catch((cause: unknown) => log.warn("an upload is left", { warc_key: key, error: cause }));
    throw error;
  }
}

/** Each file keeps its own warcinfo in front of its records; this one is of the whole. */
function warcinfoOf(key: string, now: number): Buffer {
  const info = {
    software: "Strandline",
    format: "WARC File Format 1.1",
    description: "Files of Strandline, one behind the other",
  };
  return warcinfoRecord(info, { filename: key.slice(key.lastIndexOf("/") + 1), date: now, recordId: newRecordId() });
}

async function verified({ sql, uploads }: ConsolidationDependencies, source: Source) {
  const found = await verifyFile({ sql, uploads }, source, "digests");
  await sql`
    update warc_files set faults = ${found.faults.length}, records = coalesce(${found.records}, records),
      sha256 = coalesce(sha256, ${found.sha256}), verified_at = now()
    where key = ${source.key}`;
  return found;
}

async function noteCopy(
  { sql, uploads }: ConsolidationDependencies,
  { key, bytes }: Copy,
  { sha256, records }: { sha256: string; records: number },
): Promise<void> {
  const object = await uploads.head(key);
  if (object?.bytes !== bytes) throw changed(key);
  await sql`
    insert into warc_files (key, bytes, etag, written_at, sha256, records)
    values (${key}, ${bytes}, ${object.etag}, now(), ${sha256}, ${records})
    on conflict (key) do update set sha256 = excluded.sha256, records = excluded.records`;
}

/** Reads the new file, as it lies in the bucket, through: each piece is the file that it is the copy of. */
async function checkCopy(
  { sql, uploads }: ConsolidationDependencies,
  { key, merged }: Copy,
  proceed: () => void,
): Promise<void> {
  const object = await uploads.head(key);
  if (object === undefined) throw changed(key);
  let at = 0;
  let hash = createHash("sha256");
  const pieces = merged.values();
  let piece = pieces.next().value;
  for await (const bytes of uploads.stream(key, { offset: 0, etag: object.etag })) {
    proceed();
    for (let taken = 0; taken < bytes.length && piece !== undefined; ) {
      if (at < piece.offset) {
        const skipped = Math.min(piece.offset - at, bytes.length - taken);
        [at, taken] = [at + skipped, taken + skipped];
        continue;
      }
      const part = bytes.subarray(taken, taken + piece.offset + piece.bytes - at);
      hash.update(part);
      [at, taken] = [at + part.length, taken + part.length];
      if (at < piece.offset + piece.bytes) continue;
      if (hash.digest("hex") !== piece.sha256) throw changed(key);
      hash = createHash("sha256");
      piece = pieces.next().value;
    }
  }
  if (piece !== undefined) throw changed(key);
  await sql`update warc_files set verified_at = now(), faults = 0 where key = ${key}`;
}

const changed = (key: string): RetryableError =>
  new RetryableError(`The bytes of ${key} are not those that were written`, { code: "BYTES_CHANGED" });

const outOfTime = (): RetryableError =>
  new RetryableError("The function's time is over before the copy has been read again", { code: "RUN_UNFINISHED" });
