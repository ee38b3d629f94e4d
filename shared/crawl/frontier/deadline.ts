/** The time limit of a job: it completes with what it has. */

import { inTransaction, type Sql, type Transaction } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { type JobRow, lockJob, noteLimit, settleJob } from "../jobs/lifecycle.ts";
import { skipPending } from "./frontier.ts";

/**
 * Ends what nobody has claimed where the deadline has passed. The caller holds the job's row.
 * @returns whether it has
 */
export async function endIfLate(tx: Transaction, job: JobRow): Promise<boolean> {
  if (job.deadlineAt === null || Date.now() < job.deadlineAt.getTime()) return false;
  if (!job.timedOut) await tx`update jobs set timed_out = true, updated_at = now() where id = ${job.id}`;
  job.timedOut = true;
  // retries come back as pending after the first time
  if ((await skipPending(tx, job, "TIMEOUT")) > 0) await noteLimit(tx, job, "timeout");
  return true;
}

/** Moves a job on whose deadline has passed; what fetch has under way ends by itself. Idempotent. */
export async function endLateJob({ sql, log }: { sql: Sql; log: Logger }, jobId: string): Promise<void> {
  await inTransaction(sql, async (tx) => {
    const job = await lockJob(tx, jobId);
    if (job === undefined || !(await endIfLate(tx, job))) return;
    await settleJob(tx, jobId, log);
  });
}

/** Jobs whose deadline has passed and that have something left to end. */
export async function lateJobs(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select j.id from jobs j
    where j.deadline_at < now() and j.status in ('pending', 'running')
      and exists (select from frontier f where f.job_id = j.id and f.state = 'pending')
    order by j.deadline_at limit ${MOST_LATE_JOBS}`;
  return rows.map(({ id }) => id);
}

const MOST_LATE_JOBS = 500;
