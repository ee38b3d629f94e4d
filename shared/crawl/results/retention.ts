/** How long the results of a job can be read, and what becomes of them then. */
import type { Sql } from "../../platform/database/database.ts";

const DAY_MS = 86_400_000;

/** Until when the results of a job can be read; null while it has not ended. */
export function resultsExpireAt(completedAt: Date | null, retentionDays: number): Date | null {
  return completedAt === null ? null : new Date(completedAt.getTime() + retentionDays * DAY_MS);
}

/** Frontier rows that are removed at once. */
const BATCH = 5_000;

/**
 * Removes the frontier rows of jobs whose results have expired. What the jobs have captured is the archive's, and
 * stays; so do the rows of the jobs with their counts.
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
