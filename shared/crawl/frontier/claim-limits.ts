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
  /** Requests at once of the whole job, at the most; null: each task has as many as the fetcher is set to. */
  requests: number | null;
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

/** The tasks per host that a strategy has by itself, at the most: two tasks share the host's rate. */
export const TASKS_PER_HOST = 2;
/** Hosts whose politeness one job waits for at the same time; it bounds what one claim writes and sends, too. */
const TASKS_PER_JOB = 200;
/** What the fetcher is set to by itself: a host's URLs beyond these are worth a second task. */
const WORKERS_OF_ONE_TASK = 8;

type Shaped = Pick<JobRow, "kind"> & { settings: Pick<JobSettings, "strategy" | "concurrency" | "scope" | "seeds"> };

/** Where `settings.concurrency` is given, a host may have as many tasks as hold that many URLs. */
export function claimShape(job: Shaped): ClaimShape {
  const { strategy, concurrency: requests } = job.settings;
  const { urlsPerTask, tasksPerHost: own } = BY_STRATEGY[strategy];
  const tasksPerHost = Math.max(own, Math.ceil((requests ?? 0) / urlsPerTask));
  const tasks = Math.min(isOnOneHost(job) ? tasksPerHost : TASKS_PER_JOB, requests ?? TASKS_PER_JOB);
  return { urlsPerTask, tasksPerHost, tasks, requests };
}

/**
 * The tasks that a host's URLs are worth, for as many requests at once as may be.
 * @param tasks that the host may have
 * @param requests that the job may have; null: as the fetcher is set
 */
export function tasksWorth(urls: number, tasks: number, requests: number | null, urlsPerTask: number): number {
  const wanted = requests === null ? Math.ceil(urls / WORKERS_OF_ONE_TASK) : Math.min(urls, requests);
  return Math.max(Math.ceil(urls / urlsPerTask), Math.min(tasks, wanted));
}

/**
 * Shares out requests at once: one for each task as long as there are any, then evenly, none more than it has URLs.
 * @param sizes URLs of each task
 * @returns of the first tasks; those that are left get none
 * @example
 * shareRequests([20, 20, 1], 10) // => [5, 4, 1]
 * shareRequests([20, 20, 1], 2) // => [1, 1]
 */
export function shareRequests(sizes: readonly number[], requests: number): number[] {
  const shares: number[] = sizes.slice(0, requests).map(() => 0);
  let left = requests;
  for (let given = true; given && left > 0; ) {
    given = false;
    for (const [index, share] of shares.entries()) {
      if (left === 0 || share >= (sizes[index] ?? 0)) continue;
      shares[index] = share + 1;
      left -= 1;
      given = true;
    }
  }
  return shares;
}

/** Whether all URLs of the job are on one host, so that there are no others to find. */
export function isOnOneHost({ kind, settings: { scope, seeds } }: Shaped): boolean {
  if (kind === "pages") return seeds.length === 1;
  return seeds.length === 1 && scope.roots.length === 1 && (scope.mode === "host" || scope.mode === "prefix");
}
