/**
 * Which fetch tasks share a worker: a task of a slow host does little but wait for its next slot, and one that waits
 * beside others costs nothing more. Tasks of quick hosts, and those that end soon, keep a worker of their own.
 */
import type { FetchTask } from "../tasks/fetch-task.ts";
import type { FetchDependencies, TaskDelivery } from "./dependencies.ts";

/**
 * Tasks of one worker: two for each host, of which one waits for the other, so some 20 pages a second, which keep a
 * fifth of its processor busy.
 */
export const TASKS_PER_WORKER = 40;
/** Requests a second: above, a worker is busier than it waits. */
const SLOW_RPS = 1;
/** What a worker takes later it may not finish, in ms before its end. */
export const LAST_TAKEN_MS = 120_000;
/** Waits that are shorter cost no more than to hand them over, in ms. */
const WORTH_MS = 4_000;

/** Whether the task is for a worker that has others. */
export function waitsLong(
  { config, urls, deadline }: Pick<FetchTask, "config" | "urls" | "deadline">,
  { receiveCount, remainingMs }: Pick<TaskDelivery, "receiveCount" | "remainingMs">,
  { settings, clock }: Pick<FetchDependencies, "settings" | "clock">,
): boolean {
  const rps = config.rate_limit_rps ?? settings.defaultRps;
  // what was delivered before may have been handed over then
  if (rps > SLOW_RPS || receiveCount > 1 || remainingMs() <= LAST_TAKEN_MS) return false;
  const untilEndMs = deadline === null ? Number.POSITIVE_INFINITY : deadline - clock.now();
  return Math.min(untilEndMs, (urls.length / rps) * 1000) > WORTH_MS;
}
