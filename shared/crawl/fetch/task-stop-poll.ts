/**
 * Polls what may stop a fetch task: its job was cancelled, its time is up, its lease is lost, its host was blocked or
 * slowed.
 */
import { createStopPoll, type StopPoll } from "../politeness/stop-poll.ts";
import type { FetchTask } from "../tasks/fetch-task.ts";
import type { FetchDependencies } from "./dependencies.ts";
import type { TaskStop } from "./stop-reason.ts";
import { LEASE_MS, type TaskLease } from "./task-lease.ts";

/**
 * @param refreshHosts reads again what others know of the hosts
 * @param onListened told at each poll whether somebody looks at the job as it goes
 */
export function createTaskStopPoll(
  { clock, flags }: Pick<FetchDependencies, "clock" | "flags">,
  task: FetchTask,
  lease: TaskLease,
  stop: TaskStop,
  refreshHosts: () => Promise<void>,
  onListened: (listened: boolean) => void,
): StopPoll {
  const pollTask = async (): Promise<void> => {
    if (task.deadline !== null && clock.now() >= task.deadline) stop.stopFor({ kind: "timed-out" });
    const { cancelled, listened } = await flags.read(task.jobId);
    if (cancelled) stop.stopFor({ kind: "cancelled" });
    onListened(listened);
    if (lease.until - clock.now() < LEASE_MS / 2 && !(await lease.renew())) stop.stopFor({ kind: "lost" });
  };
  const poll = async (): Promise<void> => {
    await Promise.all([pollTask(), refreshHosts()]);
  };
  return createStopPoll(clock, poll, task.deadline);
}
