/** Finds the capture of a URL that is nearest in time. */
import { normalizeUrl, urlHash } from "../../crawl/urls/normalize-url.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { isShown } from "../exclusions/is-shown.ts";
import { isPublic } from "../snapshots/snapshots.ts";

/** Whether the capture `c` is one that anybody may replay. */
const isRead = (sql: Queryable) => sql`c.warc_key is not null and ${isPublic(sql)} and ${isShown(sql)}`;

/**
 * Those of the URLs of which the archive holds an answer, at whatever time.
 * @param urls absolute
 */
export async function archivedAmong(sql: Queryable, urls: readonly string[]): Promise<Set<string>> {
  if (urls.length === 0) return new Set();
  const byHash = Map.groupBy(urls, (url) => urlHash(normalizeUrl(url)));
  const rows = await sql<{ hash: string }[]>`
    select encode(hash, 'hex') as hash
    from (select decode(h, 'hex') as hash from unnest(${[...byHash.keys()]}::text[]) h) wanted
    where exists (select from captures c where c.url_hash = hash and ${isRead(sql)})
      or exists (select from captures c where c.final_url_hash = hash and c.final_url_hash <> c.url_hash and ${isRead(sql)})`;
  return new Set(rows.flatMap(({ hash }) => byHash.get(hash) ?? []));
}

export interface NearestCapture {
  id: number;
  /** That answered, after redirects. */
  finalUrl: string;
  capturedAt: Date;
  mimeType: string | null;
  status: number;
  /** Whether it is the URL that was asked for which answered, and not one that it redirected to. */
  direct: boolean;
}

/**
 * @param jobId number of the job whose captures count; those of all where left out
 * @returns the nearest first, by seconds, by which they are named; of equally near ones the newer
 */
export async function nearestCaptures(
  sql: Queryable,
  url: string,
  at: Date,
  { jobId, limit = 1 }: { jobId?: string | undefined; limit?: number } = {},
): Promise<NearestCapture[]> {
  const hash = Buffer.from(urlHash(normalizeUrl(url)), "hex");
  const ofJob =
    jobId === undefined
      ? sql`true`
      : sql`c.job_id in (
          select id from jobs where number::text = ${jobId} or id::text = ${jobId} or archive_job_id::text = ${jobId})`;
  const side = (column: string, later: boolean) => sql`
    (select c.id, c.final_url, c.final_url_hash, c.fetched_at, c.mime_type, c.status_code from captures c
    where ${sql(column)} = ${hash} and ${isRead(sql)} and ${ofJob}
      and ${column === "c.url_hash" ? sql`true` : sql`c.final_url_hash <> c.url_hash`}
      and ${later ? sql`c.fetched_at >= ${at}` : sql`c.fetched_at < ${at}`}
    order by c.fetched_at ${later ? sql`asc` : sql`desc`} limit ${limit})`;
  return await sql<NearestCapture[]>`
    select id, final_url as "finalUrl", fetched_at as "capturedAt", mime_type as "mimeType",
      status_code as status, final_url_hash = ${hash} as direct
    from (${side("c.url_hash", true)} union all ${side("c.url_hash", false)}
      union all ${side("c.final_url_hash", true)} union all ${side("c.final_url_hash", false)}) found
    order by abs(extract(epoch from date_trunc('second', fetched_at) - ${at})), fetched_at desc, id desc limit ${limit}`;
}
