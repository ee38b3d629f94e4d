/**
 * `max_pages_per_host`: URLs of one host that a job fetches, counted as they are claimed and as they are given back.
 */
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { addCounts, type JobRow, noteLimit } from "../jobs/lifecycle.ts";

/** What the hosts may still claim; null where there is no limit. */
export async function roomOfHosts(
  tx: Transaction,
  job: JobRow,
  hosts: readonly string[],
): Promise<Map<string, number> | null> {
  const limit = job.settings.max_pages_per_host;
  if (limit === null) return null;
  const rows = await tx<{ host: string; count: number }[]>`
    select key as host, count from crawl_counts
    where job_id = ${job.id} and kind = 'host' and key in (select unnest(${hosts as string[]}::text[]))`;
  const claimed = new Map(rows.map((row) => [row.host, row.count]));
  return new Map(hosts.map((host) => [host, limit - (claimed.get(host) ?? 0)]));
}

/**
 * Counts what has just been claimed. The caller holds the job's row.
 * @param hosts one entry per URL
 */
export async function countByHost(tx: Transaction, job: JobRow, hosts: readonly string[]): Promise<void> {
  if (job.settings.max_pages_per_host === null || hosts.length === 0) return;
  const sums = [...Map.groupBy(hosts, (host) => host)].map(([host, some]) => ({ host, by: some.length }));
  await tx`
    insert into crawl_counts (job_id, kind, key, count)
    select ${job.id}, 'host', host, by from json_to_recordset(${rowsOf(sums)}::text::json) as r (host text, by int)
    on conflict (job_id, kind, key) do update set count = crawl_counts.count + excluded.count`;
}

/**
 * What was claimed and never asked for does not count. The caller holds the job's row.
 * @param hashes hex
 */
export async function giveBackByHost(tx: Transaction, job: JobRow, hashes: readonly string[]): Promise<void> {
  if (job.settings.max_pages_per_host === null || hashes.length === 0) return;
  await tx`
    update crawl_counts c set count = c.count - given.urls
    from (select host, count(*)::int as urls from frontier
          where job_id = ${job.id} and url_hash in (select decode(h, 'hex') from unnest(${hashes as string[]}::text[]) h)
          group by host) given
    where c.job_id = ${job.id} and c.kind = 'host' and c.key = given.host`;
}

/** Ends what is pending on hosts whose allowance is used up, once nothing under way can give any of it back. */
export async function endSpentHosts(tx: Transaction, job: JobRow, hosts: readonly string[]): Promise<void> {
  const limit = job.settings.max_pages_per_host;
  if (limit === null || hosts.length === 0) return;
  const spent = await tx<{ host: string }[]>`
    select c.key as host from crawl_counts c
    where c.job_id = ${job.id} and c.kind = 'host' and c.count >= ${limit}
      and c.key in (select unnest(${hosts as string[]}::text[]))
      and exists (select from frontier f where f.job_id = c.job_id and f.host = c.key and f.state = 'pending')
      and not exists (select from frontier f where f.job_id = c.job_id and f.host = c.key and f.state = 'claimed')
      and not exists (
        select from frontier f where f.job_id = c.job_id and f.host = c.key and f.state = 'pending' and f.attempt > 0)`;
  for (const { host } of spent) {
    if ((await skipHost(tx, job, host)) > 0) await noteLimit(tx, job, "budget_exhausted");
  }
}

async function skipHost(tx: Transaction, job: JobRow, host: string): Promise<number> {
  const { count } = await tx`
    update frontier set state = 'skipped', error_code = 'HOST_BUDGET_EXHAUSTED'
    where job_id = ${job.id} and host = ${host} and state = 'pending'`;
  if (count > 0) await addCounts(tx, job, { open: -count, skipped: count });
  return count;
}
