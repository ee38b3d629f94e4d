/** Looks once a second at what may stop a task: its job was cancelled, its time is up, its lease is lost, its host was blocked or slowed. */
import type { FetchDependencies } from "./fetch-dependencies.ts";
import type { FetchTask } from "./fetch-task.ts";
import type { TaskHalt } from "./task-halt.ts";
import { LEASE_MS, type TaskLease } from "./task-lease.ts";

/** A cancelled job makes no request later than twice this. */
const WATCH_EVERY_MS = 1000;

export interface TaskWatch {
  /** One look. */
  look(): Promise<void>;
  /** Looks until stopped. */
  start(): void;
  stop(): Promise<void>;
}

export function createTaskWatch(
  { clock, flags }: Pick<FetchDependencies, "clock" | "flags">,
  task: FetchTask,
  lease: TaskLease,
  halt: TaskHalt,
  refreshHost: () => Promise<void>,
): TaskWatch {
  const over = new AbortController();
  let watching: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    if (task.deadline !== null && clock.now() >= task.deadline) halt.stopFor({ kind: "timed-out" });
    if (await flags.isCancelled(task.jobId)) halt.stopFor({ kind: "cancelled" });
    if (lease.until - clock.now() < LEASE_MS / 2 && !(await lease.renew())) halt.stopFor({ kind: "lost" });
  };

  const nextLookMs = (): number =>
    task.deadline === null ? WATCH_EVERY_MS : Math.max(0, Math.min(WATCH_EVERY_MS, task.deadline - clock.now()));

  const watch = async (): Promise<void> => {
    while (!over.signal.aborted && !halt.signal.aborted) {
      try {
        await clock.sleep(nextLookMs(), over.signal);
        await Promise.all([look(), refreshHost()]);
      } catch (error) {
        if (!over.signal.aborted) halt.stopFor({ kind: "failed", error });
      }
    }
  };

  return {
    look,
    start() {
      watching = watch();
    },
    async stop() {
      over.abort();
      await watching;
    },
  };
}
