/** Ends what is outstanding of a task that nobody will answer. */

import { inTransaction, type Transaction } from "../../platform/database/database.ts";
import { countByDomain } from "../jobs/count-by-domain.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { lockJob, settleJob } from "../jobs/lifecycle.ts";
import type { ClaimedTask } from "./build-task.ts";
import { claimUrls } from "./claim.ts";
import { type ClaimedUrl, endClaimed } from "./frontier.ts";

/**
 * Ends these URLs of the task by the outcome, or as skipped where the job is cancelled, and moves the job on.
 * @param lockOutstanding which of them
 * @returns how many ended, and what was claimed in their stead: to be sent after this
 */
export async function endTask(
  { sql, log }: Pick<JobDependencies, "sql" | "log">,
  jobId: string,
  taskId: string,
  failure: { state: "failed"; errorCode: "DEAD_LETTERED" | "TASK_REFUSED" },
  lockOutstanding: (tx: Transaction) => Promise<ClaimedUrl[]>,
): Promise<{ ended: number; tasks: ClaimedTask[] }> {
  return await inTransaction(sql, async (tx) => {
    const outstanding = await lockOutstanding(tx);
    const job = outstanding.length === 0 ? undefined : await lockJob(tx, jobId);
    if (job === undefined) return { ended: 0, tasks: [] };
    const outcome = job.cancelRequested ? ({ state: "skipped", errorCode: "CANCELLED" } as const) : failure;
    await endClaimed(
      tx,
      job,
      outstanding.map(({ urlHash }) => ({ urlHash, ...outcome, waitMs: 0, captureId: null, givesBudgetBack: false })),
    );
    await tx`
      update dead_letters set state = 'ended', redrive_at = null, updated_at = now()
      where job_id = ${jobId} and task_id = ${taskId} and state = 'sent'`;
    const tasks = await claimUrls(tx, job, [...new Set(outstanding.map((url) => url.host))]);
    await settleJob(tx, jobId, log);
    const ended = outstanding.map((url) => ({ url, outcome, payloadBytes: 0, reused: false, storedBytes: 0 }));
    await countByDomain(tx, ended, { apiKeyId: null, work: {} });
    return { ended: outstanding.length, tasks };
  });
}
