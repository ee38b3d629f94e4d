/**
 * The crawl cache: captures of the archive that are young enough to be taken instead of a request. Nothing is stored
 * for it; what counts is the last capture of a URL that says something about the page.
 */
import { countCacheUse } from "../../platform/database/cache-counts.ts";
import type { Queryable, Transaction } from "../../platform/database/database.ts";
import type { JobRow } from "../jobs/lifecycle.ts";
import type { ClaimedTask } from "./build-task.ts";
import { madeWithSettings } from "./same-settings.ts";

/** A capture that stands for a request. */
export interface Reusable {
  /** Of the URL that was asked for, hex. */
  urlHash: string;
  captureId: number;
  finalUrl: string;
  fetchedAt: Date;
  /** The document made of it; null where it made none. */
  document: { id: string; urlHash: string; links: string[] } | null;
}

/**
 * What may be used again of these URLs for the job: the last capture of the URL, unless it failed, is older than the
 * job's time, or was cleared. It must have been made with the same settings but for the pace, so that nothing made with
 * other headers or rules is served; where it redirected, the job must go wherever redirects lead. Where the job wants
 * documents or links, the capture's document must be the active one: otherwise it would not be known what to index, and
 * the page is fetched. A capture of a job that is kept for a while only serves jobs that are not kept longer.
 * @param hashes hex
 */
export async function findReusable(tx: Queryable, job: JobRow, hashes: readonly string[]): Promise<Reusable[]> {
  const { settings } = job;
  const { mode, include, exclude } = settings.scope;
  const anywhere = mode === "any" && include.length === 0 && exclude.length === 0;
  const needsDocument = settings.index || job.kind === "site";
  return await tx<Reusable[]>`
    select encode(u.hash, 'hex') as "urlHash", c.id as "captureId", c.final_url as "finalUrl", c.fetched_at as "fetchedAt",
      case when d.id is not null then
        json_build_object('id', d.id, 'urlHash', encode(d.url_hash, 'hex'), 'links', d.links) end as document
    from (select decode(h, 'hex') as hash from unnest(${hashes as string[]}::text[]) h) u
    cross join lateral (
      select * from captures c
      where c.url_hash = u.hash and (c.error_code is null
        or not c.error_retryable and c.error_code not in ('CANCELLED', 'TIMEOUT', 'BUDGET_EXHAUSTED'))
      order by c.fetched_at desc, c.id desc limit 1
    ) c
    join jobs j on j.id = c.job_id
    left join documents d on d.generation_active and d.deleted_at is null and d.url_hash = c.final_url_hash
      and d.job_id = c.job_id
    where c.error_code is null and j.kind <> 'import' and c.fetched_at > now() - ${settings.cache_ttl_s} * interval '1 second'
      and (${anywhere} or c.redirects = '[]')
      and not exists (select from crawl_cache_cleared x
        where x.domain in ('*', ${hostIn(tx, "url")}, ${hostIn(tx, "final_url")}) and x.cleared_at >= c.fetched_at)
      and not exists (select from domain_settings s where s.is_blocked and s.domain = ${hostIn(tx, "final_url")})
      and (j.delivery is null
        or exists (select from jobs mine where mine.id = ${job.id} and mine.delivery in ('answer', 'stream')))
      and ${madeWithSettings(tx, settings.config)}
      and (d.id is not null or not ${needsDocument})`;
}

const hostIn = (sql: Queryable, column: "url" | "final_url") =>
  sql`substring(c.${sql(column)} from '^https?://([^/?#]+)')`;

/**
 * Marks the tasks of which something may be answered without a request, and counts what was found. The caller holds the
 * job's row.
 */
export async function lookUpTasks(tx: Transaction, job: JobRow, tasks: readonly ClaimedTask[]): Promise<ClaimedTask[]> {
  const { cache, cache_ttl_s } = job.settings;
  const wanted = tasks.flatMap(({ task }) => task.urls).filter(({ attempt }) => attempt === 0);
  if (cache === "bypass" || cache_ttl_s === 0 || wanted.length === 0) return [...tasks];
  const found = await findReusable(
    tx,
    job,
    wanted.map(({ urlHash }) => urlHash),
  );
  await countCacheUse(tx, "crawl", { hits: found.length, misses: wanted.length - found.length });
  const known = new Set(found.map(({ urlHash }) => urlHash));
  return tasks.map((each) => ({ ...each, fromCache: each.task.urls.some(({ urlHash }) => known.has(urlHash)) }));
}

/**
 * No capture of before is used again; all of them stay in the archive.
 * @param domain `*` for every domain
 */
export async function clearCrawlCache(sql: Queryable, domain: string): Promise<Date> {
  const [row] = await sql<{ clearedAt: Date }[]>`
    insert into crawl_cache_cleared (domain, cleared_at) values (${domain}, clock_timestamp())
    on conflict (domain) do update set cleared_at = excluded.cleared_at
    returning cleared_at as "clearedAt"`;
  return (row as { clearedAt: Date }).clearedAt;
}

/** When the whole cache was last cleared, as far as captures of before could be used otherwise. */
export async function crawlCacheClearedAt(sql: Queryable): Promise<Date | null> {
  const [row] = await sql<{ clearedAt: Date }[]>`
    select cleared_at as "clearedAt" from crawl_cache_cleared where domain = '*'`;
  return row?.clearedAt ?? null;
}

/** Longer than any capture may be used again. */
const LONGEST_TTL = "15 days";

/**
 * Forgets clearings that are older than all that could be used again.
 * @returns how many
 */
export async function ageCrawlCache(sql: Queryable): Promise<number> {
  const { count } = await sql`delete from crawl_cache_cleared where cleared_at < now() - ${LONGEST_TTL}::interval`;
  return count;
}
