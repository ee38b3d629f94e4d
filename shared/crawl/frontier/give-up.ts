/** Ends URLs whose task will never answer, so that their job ends. */
import { inTransaction, type Transaction } from "../../platform/database/database.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { lockJob, settleJob } from "../jobs/lifecycle.ts";
import { claimUrls } from "./claim.ts";
import { MAX_SENDS } from "./claim-lease.ts";
import { dispatch } from "./dispatch.ts";
import { endTask } from "./end-task.ts";
import { type ClaimedUrl, lockClaimed, lockLapsed, lockTask } from "./frontier.ts";

type LostWorkDependencies = Pick<JobDependencies, "sql" | "queues" | "log">;

/**
 * Ends what is outstanding of the task as failed (DEAD_LETTERED), or as skipped where the job is cancelled, and goes on
 * with the job.
 * @param hashes only these URLs (hex); null: all that is outstanding
 * @returns how many URLs ended
 */
export async function endLostUrls(
  dependencies: LostWorkDependencies,
  jobId: string,
  taskId: string,
  hashes: readonly string[] | null,
): Promise<number> {
  return await endOutstanding(dependencies, jobId, taskId, (tx) =>
    hashes === null ? lockTask(tx, jobId, taskId) : lockClaimed(tx, jobId, taskId, hashes),
  );
}

/** As `endLostUrls`, for a task that was sent as often as a task is; unless it has answered since that was seen. */
export async function giveUpTask(dependencies: LostWorkDependencies, jobId: string, taskId: string): Promise<number> {
  return await endOutstanding(dependencies, jobId, taskId, (tx) => lockLapsed(tx, jobId, taskId, MAX_SENDS));
}

async function endOutstanding(
  dependencies: LostWorkDependencies,
  jobId: string,
  taskId: string,
  lockOutstanding: (tx: Transaction) => Promise<ClaimedUrl[]>,
): Promise<number> {
  const outcome = { state: "failed", errorCode: "DEAD_LETTERED" } as const;
  const { ended, tasks } = await endTask(dependencies, jobId, taskId, outcome, lockOutstanding);
  await dispatch(dependencies, tasks);
  if (ended === 0) await claimSkipped(dependencies, jobId);
  return ended;
}

/**
 * Claims what others have skipped, for a transaction that has found its URLs answered before: to be called once it has
 * ended. PostgreSQL has given it the locks of these rows all the same, also of those that are to be tried again, and
 * whoever claimed meanwhile skipped them.
 */
export async function claimSkipped(dependencies: LostWorkDependencies, jobId: string): Promise<void> {
  const [row] = await dependencies.sql<{ left: boolean }[]>`
    select exists (select from frontier where job_id = ${jobId} and state = 'pending' and attempt > 0) as left`;
  if (row?.left) await resumeJob(dependencies, jobId);
}

/** Claims what nobody has claimed, and moves the job on where its counts say so. */
export async function resumeJob(dependencies: LostWorkDependencies, jobId: string): Promise<void> {
  const tasks = await inTransaction(dependencies.sql, async (tx) => {
    const job = await lockJob(tx, jobId);
    if (job === undefined) return [];
    const claimed = await claimUrls(tx, job, null);
    await settleJob(tx, jobId, dependencies.log);
    return claimed;
  });
  await dispatch(dependencies, tasks);
}
