/**
 * Captures of HTML pages as snapshots: what one is of, and which others there are of its page. A page is scheme, host
 * and path; captures that only used an earlier answer again are not counted a second time.
 */
import type { Queryable } from "../../platform/database/database.ts";
import { isShown } from "../exclusions/is-shown.ts";

export interface Snapshot {
  id: number;
  jobId: number;
  jobName: string;
  /** That answered. */
  url: string;
  /** Scheme, host and path. */
  page: string;
  /** Code of the source that captured it; of what belongs to none, the host of its URL. */
  source: string;
  sourceName: string;
  capturedAt: Date;
  status: number;
  mimeType: string | null;
  title: string | null;
  language: string | null;
}

/** Whether the capture `c` is one of a page: the archive holds what was sent, and it is HTML. */
export const isOfHtml = (sql: Queryable) => sql`
  c.warc_key is not null and c.reused_from is null and c.mime_type like '%html%'`;

/** Whether the capture `c` belongs to no reserved source. */
export const isPublic = (sql: Queryable) => sql`c.job_id not in (select id from jobs where hidden)`;

/** Whether the capture `c` is a snapshot: whatever belongs to a reserved source is none. */
export const isSnapshot = (sql: Queryable) => sql`${isOfHtml(sql)} and ${isPublic(sql)}`;

const hostOf = (sql: Queryable) => sql`split_part(split_part(c.final_url, '/', 3), '@', -1)`;

/** Of the capture `c`, of the job `j`: what it is listed with, beside itself. */
export const belongings = (sql: Queryable) => sql`
  coalesce(j.archive_job_id, j.number) as "jobId",
  coalesce((select name from archive_jobs where id = j.archive_job_id),
    j.kind || '-' || to_char(j.created_at at time zone 'UTC', 'YYYYMMDD')) as "jobName",
  coalesce(j.source_code, ${hostOf(sql)}) as source,
  coalesce((select name from sources where code = j.source_code), ${hostOf(sql)}) as "sourceName"`;

/** Names what a filter by source means: codes have neither dots nor colons, and a host may have none either. */
export const isSourceCode = (source: string): boolean => !/[.:]/.test(source);

/** Whether the capture `c`, of the job `j`, is of a source: its code, or a host. */
const isOfSource = (sql: Queryable, source: string) => sql`
  (${isSourceCode(source) ? sql`j.source_code = ${source} or` : sql``} ${hostOf(sql)} = ${source})`;

/** The jobs whose number it is, as it is shown: that of their archive job, or their own. */
export const jobsOf = (sql: Queryable, number: number) => sql`
  (select id from jobs where number = ${number} or archive_job_id = ${number})`;

const columns = (sql: Queryable) => sql`
  c.id, ${belongings(sql)}, c.final_url as url, page_of(c.final_url) as page, c.fetched_at as "capturedAt", c.status_code as status,
  c.mime_type as "mimeType", left(c.title, 1000) as title, c.language`;

/** The snapshot that a capture is, or whose answer it used again; undefined where that is none. */
export async function snapshotOf(sql: Queryable, captureId: number): Promise<number | undefined> {
  const [found] = await sql<{ id: number }[]>`
    select c.id from captures c join captures asked on c.id = coalesce(asked.reused_from, asked.id)
    where asked.id = ${captureId} and ${isSnapshot(sql)} and ${isShown(sql)}`;
  return found?.id;
}

/** Whether readers may see it is another question: see `exclusions`. */
export async function readSnapshot(
  sql: Queryable,
  id: number,
): Promise<(Snapshot & { snippet: string | null }) | undefined> {
  const [found] = await sql<(Snapshot & { snippet: string | null })[]>`
    select ${columns(sql)}, coalesce(
      (select left(d.content, ${SNIPPET_CHARACTERS}) from documents d
        where d.generation_id = j.generation_id and d.url_hash = c.final_url_hash and d.capture_id = c.id),
      (select left(i.snippet, ${SNIPPET_CHARACTERS}) from snapshot_index i where i.capture_id = c.id)) as snippet
    from captures c join jobs j on j.id = c.job_id
    where c.id = ${id} and ${isSnapshot(sql)}`;
  return found;
}

const SNIPPET_CHARACTERS = 280;

/** Of a page, oldest first. */
export async function readTimeline(sql: Queryable, page: string, limit: number): Promise<Snapshot[]> {
  const newest = await sql<Snapshot[]>`
    select ${columns(sql)} from captures c join jobs j on j.id = c.job_id
    where ${isOfPage(sql, page)} and ${isSnapshot(sql)} and ${isShown(sql)}
    order by c.fetched_at desc, c.id desc limit ${limit}`;
  return newest.reverse();
}

/** @param page or an expression of it */
export const isOfPage = (sql: Queryable, page: string | ReturnType<Queryable>) => sql`
  hashtextextended(page_of(c.final_url), 0) = hashtextextended(${page}::text, 0) and page_of(c.final_url) = ${page}`;

/** Rows of a list by rising ids: of a source, and of days. */
export interface ListPart {
  after: number;
  limit: number;
  source?: string | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  before?: Date | undefined;
}

export async function listSnapshots(
  sql: Queryable,
  { after, limit, source, from, before }: ListPart,
): Promise<Snapshot[]> {
  return await sql<Snapshot[]>`
    select ${columns(sql)} from captures c join jobs j on j.id = c.job_id
    where c.id > ${after} and ${isSnapshot(sql)} and ${isShown(sql)}
      and ${source === undefined ? sql`true` : isOfSource(sql, source)}
      and ${from === undefined ? sql`true` : sql`c.fetched_at >= ${from}`}
      and ${before === undefined ? sql`true` : sql`c.fetched_at < ${before}`}
    order by c.id limit ${limit}`;
}

/**
 * The newest good one.
 * @param onlyHtml whether captures of other types, at the same page, do not count
 */
export async function readLatest(
  sql: Queryable,
  page: string,
  onlyHtml: boolean,
): Promise<Pick<Snapshot, "id" | "capturedAt" | "mimeType"> | undefined> {
  const [found] = await sql<Pick<Snapshot, "id" | "capturedAt" | "mimeType">[]>`
    select c.id, c.fetched_at as "capturedAt", c.mime_type as "mimeType" from captures c
    where ${isOfPage(sql, page)} and c.warc_key is not null and c.reused_from is null and ${isPublic(sql)}
      and ${isShown(sql)} and c.status_code between 200 and 299 and ${onlyHtml ? isOfHtml(sql) : sql`true`}
    order by c.fetched_at desc, c.id desc limit 1`;
  return found;
}

export interface ArchiveTotals {
  snapshots: number;
  pages: number;
  sources: number;
  latest: Date | null;
}

/** Reads every snapshot: for whoever keeps the answer for a while. */
export async function countArchive(sql: Queryable): Promise<ArchiveTotals> {
  const [totals] = await sql<ArchiveTotals[]>`
    select count(*) as snapshots, count(distinct hashtextextended(page_of(c.final_url), 0)) as pages,
      count(distinct coalesce(j.source_code, ${hostOf(sql)})) as sources, max(c.fetched_at) as latest
    from captures c join jobs j on j.id = c.job_id where ${isSnapshot(sql)} and ${isShown(sql)}`;
  return totals as ArchiveTotals;
}

/** Archive jobs, and crawls and imports of no archive job, by state, in the words of archive jobs. */
export async function countJobs(sql: Queryable): Promise<Record<string, number>> {
  const rows = await sql<{ status: string; count: number }[]>`
    select status, count(*) as count from (
        select status from archive_jobs
        union all
        select case status when 'pending' then 'queued' when 'embedding' then 'indexing' when 'completed' then 'indexed'
          else status end
        from jobs where archive_job_id is null) each
    group by status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}
