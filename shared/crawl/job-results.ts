/** How far the results of a job have come, and how long they can be read. */
import type { Queryable, Sql } from "../platform/database.ts";
import type { JobStatus } from "./job-lifecycle.ts";
import type { FieldSelection } from "./result-fields.ts";

export interface ResultState {
  jobId: string;
  status: JobStatus;
  /** null until the job has ended. */
  stopReason: string | null;
  error: string | null;
  /** URLs that have ended as results by now: the highest cursor. */
  results: number;
  crawled: number;
  failed: number;
  createdAt: Date;
  completedAt: Date | null;
  /** From acceptance to the end, or to now. */
  durationSeconds: number;
  /** More results may come. */
  isCrawling: boolean;
  /** Shown to whoever selects none. */
  fields: FieldSelection | null;
}

/** @returns undefined where there is no such job */
export async function readResultState(sql: Queryable, jobId: string): Promise<ResultState | undefined> {
  const [state] = await sql<ResultState[]>`
    select id as "jobId", status, error, results, crawled, failed, created_at as "createdAt", completed_at as "completedAt",
      case when completed_at is not null then stop_reason end as "stopReason",
      extract(epoch from coalesce(completed_at, clock_timestamp()) - created_at)::float8 as "durationSeconds",
      status in ('pending', 'running') as "isCrawling", nullif(settings->'fields', 'null') as fields
    from jobs where id = ${jobId}`;
  return state;
}

const DAY_MS = 86_400_000;

/** Until when the results of a job can be read; null while it has not ended. */
export function resultsExpireAt(completedAt: Date | null, retentionDays: number): Date | null {
  return completedAt === null ? null : new Date(completedAt.getTime() + retentionDays * DAY_MS);
}

/** Frontier rows that are removed at once. */
const BATCH = 5_000;

/**
 * Removes the frontier rows of jobs whose results have expired. What the jobs have captured is the archive's, and stays; so do
 * the rows of the jobs with their counts.
 * @param hasTime asked before each batch
 * @returns how many rows went
 */
export async function removeExpiredResults(sql: Sql, retentionDays: number, hasTime: () => boolean): Promise<number> {
  let removed = 0;
  while (hasTime()) {
    const [job] = await sql<{ id: string }[]>`
      select id from jobs
      where not results_removed and completed_at < now() - ${retentionDays}::int * interval '1 day'
      order by completed_at limit 1`;
    if (job === undefined) break;
    const { count } = await sql`
      delete from frontier where (job_id, url_hash) in (
        select job_id, url_hash from frontier where job_id = ${job.id} limit ${BATCH})`;
    removed += count;
    if (count < BATCH) await sql`update jobs set results_removed = true where id = ${job.id}`;
  }
  return removed;
}
