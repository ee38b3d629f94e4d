/** How much of a job is under way at once. */

import type { JobRow } from "../jobs/lifecycle.ts";
import type { JobSettings, Strategy } from "../settings/job-settings.ts";
import { MAX_URLS_PER_TASK } from "../tasks/fetch-task.ts";

export interface ClaimShape {
  urlsPerTask: number;
  /** Tasks of the job that are under way on one host, at the most. */
  tasksPerHost: number;
  /** Tasks of the job that are under way, at the most. */
  tasks: number;
  /** Requests at once of each task; null: as the fetcher is set. */
  workers: number | null;
}

/**
 * What is claimed can no longer be overtaken by what is found meanwhile, so the order of a strategy is as good as its
 * claims are small. Breadth first loses nothing by large ones: a level is known before it begins. With two tasks on a
 * host one is fetched while the other is being written.
 */
const BY_STRATEGY: Record<Strategy, Pick<ClaimShape, "urlsPerTask" | "tasksPerHost">> = {
  bfs: { urlsPerTask: MAX_URLS_PER_TASK, tasksPerHost: 2 },
  dfs: { urlsPerTask: 1, tasksPerHost: 1 },
  best_first: { urlsPerTask: 10, tasksPerHost: 1 },
};

/** The most tasks per host that any strategy has: two tasks share the host's rate. */
export const TASKS_PER_HOST = 2;
/** Hosts whose politeness one job waits for at the same time; it bounds what one claim writes and sends, too. */
const TASKS_PER_JOB = 200;
/**
 * Requests at once of one task of a job on many hosts, where it has an allowance: a host of its own rarely takes more.
 */
const WORKERS_PER_TASK = 4;

type Shaped = Pick<JobRow, "kind"> & { settings: Pick<JobSettings, "strategy" | "concurrency" | "scope" | "seeds"> };

/** Where `settings.concurrency` is given, `tasks` × `workers` never exceeds it. */
export function claimShape(job: Shaped): ClaimShape {
  const { strategy, concurrency } = job.settings;
  const { urlsPerTask, tasksPerHost } = BY_STRATEGY[strategy];
  if (concurrency === null) {
    return { urlsPerTask, tasksPerHost, tasks: isOnOneHost(job) ? tasksPerHost : TASKS_PER_JOB, workers: null };
  }
  if (isOnOneHost(job)) {
    const tasks = Math.min(tasksPerHost, concurrency);
    return { urlsPerTask, tasksPerHost: tasks, tasks, workers: Math.floor(concurrency / tasks) };
  }
  const workers = Math.min(WORKERS_PER_TASK, Math.max(1, Math.floor(concurrency / WORKERS_PER_TASK)));
  const tasks = Math.min(TASKS_PER_JOB, Math.floor(concurrency / workers));
  return { urlsPerTask, tasksPerHost, tasks, workers };
}

/** Whether all URLs of the job are on one host, so that there are no others to find. */
export function isOnOneHost({ kind, settings: { scope, seeds } }: Shaped): boolean {
  if (kind === "pages") return seeds.length === 1;
  return seeds.length === 1 && scope.roots.length === 1 && (scope.mode === "host" || scope.mode === "prefix");
}
