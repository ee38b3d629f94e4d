/**
 * Jobs with something that failed: the job itself, some of its URLs, or a message of it that no delivery could
 * complete.
 */
import type { Queryable } from "../../platform/database/database.ts";
import { type JobView, jobColumns } from "./views.ts";
import { type ErrorCount, errorCounts } from "./without-pages.ts";

export interface FailedJobView extends JobView {
  retry_of: string | null;
  /** Why URLs of it failed, the most frequent first. */
  errors: ErrorCount[];
  /** The newest; see `SHOWN_LETTERS`. */
  dead_letters: DeadLetterView[];
}

export interface DeadLetterView {
  id: string;
  queue: string;
  /**
   * waiting: sent again at `redrive_at`; sent: on its way; recovered: what it asked for is done; ended: its work ended
   * as lost
   */
  state: "waiting" | "sent" | "recovered" | "ended";
  redrives: number;
  redrive_at: Date | null;
  /** Of the fault that can never pass; null where it might, or is not known. */
  error_code: string | null;
  created_at: Date;
}

/** Dead letters that a view shows of a job, at the most. */
const SHOWN_LETTERS = 20;

/**
 * Newest first.
 * @param after the `job_id` of the last job seen
 */
export async function listFailedJobs(
  sql: Queryable,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<FailedJobView[]> {
  const jobs = await sql<Omit<FailedJobView, "dead_letters">[]>`
    select ${jobColumns(sql)}, retry_of, ${errorCounts(sql)} as errors
    from jobs
    where (status = 'failed' or failed > 0 or id in (select job_id from dead_letters))
      and ${after === undefined ? sql`true` : sql`id < ${after}`}
    order by id desc limit ${limit}`;
  const letters = await deadLettersOf(
    sql,
    jobs.map((job) => job.job_id),
  );
  return jobs.map((job) => ({ ...job, dead_letters: letters.get(job.job_id) ?? [] }));
}

/** The newest dead letters of each job. */
export async function deadLettersOf(sql: Queryable, jobIds: readonly string[]): Promise<Map<string, DeadLetterView[]>> {
  const rows = await sql<(DeadLetterView & { job_id: string })[]>`
    select l.* from unnest(${jobIds as string[]}::uuid[]) j (id)
    cross join lateral (
      select job_id, id, queue, state, redrives, redrive_at, error_code, created_at from dead_letters
      where job_id = j.id order by id desc limit ${SHOWN_LETTERS}
    ) l`;
  const letters = rows.map(({ job_id, ...letter }) => ({ jobId: job_id, letter }));
  return new Map(
    [...Map.groupBy(letters, ({ jobId }) => jobId)].map(([jobId, some]) => [jobId, some.map(({ letter }) => letter)]),
  );
}
