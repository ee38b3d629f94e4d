/** What a job has before it, and what became of the rest: for whoever watches it. */
import type { Queryable } from "../../platform/database/database.ts";

export interface FrontierView {
  /** URLs that wait to be fetched, those first that are next by the job's strategy. */
  next: { url: string; depth: number; attempts: number; not_before: Date }[];
  /** The job's URLs by what became of them; null where they are too many to be counted for each who asks. */
  counts: FrontierCount[] | null;
}

export interface FrontierCount {
  depth: number;
  state: "pending" | "claimed" | "crawled" | "failed" | "skipped";
  /** Of the last capture; 0 where no answer came, null where none was made. */
  status_code: number | null;
  error_code: string | null;
  count: number;
}

/** Counting that many takes half a second. */
const MOST_COUNTED = 200_000;
const MOST_COUNTS = 1_000;
/** Hosts whose first URLs are compared. */
const MOST_HOSTS = 50;

/** @param limit URLs of `next`, at the most */
export async function readFrontier(
  sql: Queryable,
  job: { job_id: string; counts: { discovered: number } },
  limit: number,
): Promise<FrontierView> {
  const { job_id: jobId } = job;
  const next = await sql<FrontierView["next"]>`
    with recursive hosts as (
      (select f.host, 1 as place from frontier f where f.job_id = ${jobId} and f.state = 'pending'
       order by f.host limit 1)
      union all
      select (select f.host from frontier f
              where f.job_id = ${jobId} and f.state = 'pending' and f.host > hosts.host order by f.host limit 1),
        hosts.place + 1
      from hosts where hosts.host is not null and hosts.place < ${MOST_HOSTS})
    select first.url, first.depth, first.attempt as attempts, first.not_before
    from hosts cross join lateral (
      select f.url, f.depth, f.attempt, f.not_before, f.priority from frontier f
      where f.job_id = ${jobId} and f.state = 'pending' and f.host = hosts.host
      order by f.priority limit ${limit}) first
    order by first.priority limit ${limit}`;
  if (job.counts.discovered > MOST_COUNTED) return { next: [...next], counts: null };
  const counts = await sql<FrontierCount[]>`
    select f.depth, f.state, c.status_code, f.error_code, count(*)::int as count
    from frontier f left join captures c on c.id = f.capture_id
    where f.job_id = ${jobId}
    group by f.depth, f.state, c.status_code, f.error_code
    order by f.depth, f.state, c.status_code, f.error_code limit ${MOST_COUNTS}`;
  return { next: [...next], counts: [...counts] };
}
