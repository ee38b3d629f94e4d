/** Cancels jobs. */
import { inTransaction, type Transaction } from "../../platform/database/database.ts";
import { readTasks } from "../frontier/claim-lease.ts";
import { dispatch } from "../frontier/dispatch.ts";
import { skipPending } from "../frontier/frontier.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { isFinished, lockJob, settleJob } from "../jobs/lifecycle.ts";

/**
 * Ends what nobody has claimed at once; what is under way ends when fetch answers, or its lease lapses. Tasks that wait
 * for their host are sent once more, so that fetch ends them now. The documents of the job stay unseen, and maintenance
 * removes them.
 * @param isDue asked once nobody else can change the job: "spared" where it says no
 */
export async function cancelJob(
  dependencies: JobDependencies,
  jobId: string,
  isDue?: (tx: Transaction) => Promise<boolean>,
): Promise<"cancelled" | "finished" | "missing" | "spared"> {
  const { sql, flags } = dependencies;
  const { result, tasks } = await inTransaction(sql, async (tx) => {
    const job = await lockJob(tx, jobId);
    if (job === undefined) return { result: "missing" as const, tasks: [] };
    if (isFinished(job.status)) return { result: "finished" as const, tasks: [] };
    if (isDue !== undefined && !(await isDue(tx))) return { result: "spared" as const, tasks: [] };
    await tx`update jobs set cancel_requested = true, updated_at = now() where id = ${jobId}`;
    await skipPending(tx, job, "CANCELLED");
    const tasks = await readTasks(tx, job);
    await settleJob(tx, jobId, dependencies.log);
    return { result: "cancelled" as const, tasks };
  });
  if (result !== "cancelled") return result;
  // after the commit: a flag without it would end pages of a job that goes on, and completes
  await flags.markCancelled(jobId);
  await dispatch(dependencies, tasks);
  return result;
}
