/** Looks once a second at what may stop a task: its job was cancelled, its time is up, its lease is lost, its host was blocked or slowed. */

import { createFreshnessCheck, type FreshnessCheck, LOOK_EVERY_MS } from "../politeness/freshness.ts";
import type { FetchTask } from "../tasks/fetch-task.ts";
import type { FetchDependencies } from "./dependencies.ts";
import type { TaskStop } from "./stop-reason.ts";
import { LEASE_MS, type TaskLease } from "./task-lease.ts";

export interface StopPoll extends FreshnessCheck {
  /** Looks until stopped. @param refreshHost reads again what others know of the hosts */
  start(refreshHost: () => Promise<void>): void;
  stop(): Promise<void>;
}

export function createStopPoll(
  { clock, flags }: Pick<FetchDependencies, "clock" | "flags">,
  task: FetchTask,
  lease: TaskLease,
  stop: TaskStop,
): StopPoll {
  const over = new AbortController();
  let watching: Promise<void> = Promise.resolve();
  let refreshHost = async (): Promise<void> => undefined;

  const lookAtTask = async (): Promise<void> => {
    if (task.deadline !== null && clock.now() >= task.deadline) stop.stopFor({ kind: "timed-out" });
    if (await flags.isCancelled(task.jobId)) stop.stopFor({ kind: "cancelled" });
    if (lease.until - clock.now() < LEASE_MS / 2 && !(await lease.renew())) stop.stopFor({ kind: "lost" });
  };

  const freshness = createFreshnessCheck(clock, async () => {
    await Promise.all([lookAtTask(), refreshHost()]);
  });

  const nextLookMs = (): number =>
    task.deadline === null ? LOOK_EVERY_MS : Math.max(0, Math.min(LOOK_EVERY_MS, task.deadline - clock.now()));

  const watch = async (): Promise<void> => {
    while (!over.signal.aborted && !stop.signal.aborted) {
      try {
        await clock.sleep(nextLookMs(), over.signal);
        await freshness.lookNow();
      } catch (error) {
        if (!over.signal.aborted) stop.stopFor({ kind: "failed", error });
      }
    }
  };

  return {
    get recent() {
      return freshness.recent;
    },
    look: freshness.look,
    start(refresh) {
      refreshHost = refresh;
      watching = watch();
    },
    async stop() {
      over.abort();
      await watching;
    },
  };
}
