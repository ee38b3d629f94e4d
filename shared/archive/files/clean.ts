/** Deletes WARC objects that nothing needs: copied into another file, or never pointed at by a stored capture. */
import { createHash } from "node:crypto";
import type { ListedObjects } from "../../platform/aws/listed-objects.ts";
import type { Uploads } from "../../platform/aws/uploads.ts";
import type { Sql } from "../../platform/database/database.ts";
import type { FileFault } from "./task.ts";
import { removeFile } from "./warc-files.ts";

export interface CleaningDependencies {
  sql: Sql;
  objects: Pick<ListedObjects, "remove">;
  uploads: Pick<Uploads, "head" | "stream">;
}

export interface CleaningOptions {
  /** How long a file stays after its captures have been moved, in ms: whoever reads it has come to an end by then. */
  mergedMs: number;
  /** How long a file stays at which no capture points, in ms: what a queue may still hold has come by then. */
  unusedMs: number;
  /** Counts, and deletes nothing. */
  dryRun: boolean;
  now: number;
}

export interface Cleaned {
  /** Of the last file that was looked at. */
  after: string;
  done: boolean;
  files: number;
  bytes: number;
  faults: (FileFault & { key: string })[];
}

interface Candidate {
  key: string;
  bytes: number;
  captures: number;
  removed: boolean;
  due: boolean;
  into: string | null;
  at: number | null;
  sha256: string | null;
}

const AT_ONCE = 200;

/** Looks at the next files in the order of their keys. Uploads are left alone: whoever put them there deletes them. */
export async function clean(
  dependencies: CleaningDependencies,
  after: string,
  options: CleaningOptions,
  hasTime: () => boolean,
): Promise<Cleaned> {
  const { sql, objects } = dependencies;
  const cleaned: Cleaned = { after, done: false, files: 0, bytes: 0, faults: [] };
  const files = await candidates(sql, after, options);
  for (const file of files) {
    if (!hasTime()) return cleaned;
    cleaned.after = file.key;
    if (file.captures > 0 || !file.due) continue;
    const fault = file.removed ? undefined : await copyFault(dependencies, file);
    if (fault !== undefined) {
      cleaned.faults.push({ ...fault, key: file.key });
      continue;
    }
    if (!options.dryRun && !(await removeFile(sql, objects, file.key))) continue;
    cleaned.files += 1;
    cleaned.bytes += file.bytes;
  }
  return { ...cleaned, done: files.length < AT_ONCE };
}

async function candidates(sql: Sql, after: string, { mergedMs, unusedMs, now }: CleaningOptions): Promise<Candidate[]> {
  const unused = new Date(now - unusedMs);
  const rows = await sql<(Candidate & { unusedSince: Date | null })[]>`
    select key, bytes, captures_in(key)::int as captures, removed_at is not null as removed, merged_into as into,
      merged_offset as at, sha256, unused_since as "unusedSince",
      removed_at is not null
        or (merged_into is not null and merged_at <= ${new Date(now - mergedMs)})
        or (merged_into is null and unused_since <= ${unused} and written_at <= ${unused} and etag <> ''
          and not exists (
            select from jobs j where j.status in ('pending', 'running', 'embedding')
              and j.id = (case when split_part(f.key, '/', 5) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                then split_part(f.key, '/', 5) end)::uuid)) as due
    from warc_files f
    where key > ${after} and key like 'warcs/%' and deleted_at is null
    order by key limit ${AT_ONCE}`;
  const begun = rows.filter(({ captures, unusedSince }) => captures === 0 && unusedSince === null);
  const ended = rows.filter(({ captures, unusedSince }) => captures > 0 && unusedSince !== null);
  await sql`
    update warc_files set unused_since = case when key = any (${begun.map(({ key }) => key)}) then ${new Date(now)}::timestamptz end
    where key = any (${[...begun, ...ended].map(({ key }) => key)})`;
  return rows;
}

/** What keeps a file that was copied: its copy is not there, or not as it was. */
async function copyFault(
  { sql, uploads }: CleaningDependencies,
  { key, bytes, into, at, sha256 }: Candidate,
): Promise<FileFault | undefined> {
  if (into === null || at === null) return undefined;
  const fault = (why: string): FileFault => ({
    code: "COPY_MISSING",
    message: `it stays, since its copy in ${into} ${why}`,
    offset: at,
  });
  const [target] = await sql<{ removed: boolean }[]>`
    select removed_at is not null as removed from warc_files where key = ${into}`;
  const object = await uploads.head(into);
  // what no capture needed any more has gone as a whole
  if (target?.removed) return undefined;
  if (object === undefined) return fault("is not there");
  const hash = createHash("sha256");
  let left = bytes;
  for await (const part of uploads.stream(into, { offset: at, length: bytes, etag: object.etag })) {
    hash.update(part.subarray(0, left));
    left -= Math.min(left, part.length);
    if (left === 0) break;
  }
  return hash.digest("hex") === sha256 ? undefined : fault(`is not what its SHA-256 ${sha256} says (${key})`);
}
