/**
 * Works through one fetch task: every URL ends as exactly one capture, now or in a later delivery of the same task.
 * Waiting never counts as a failed delivery: a task that must wait is sent again with a delay.
 */
import { uuidv7 } from "../../platform/ids.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { type FetchTask, fetchQueue } from "../tasks/fetch-task.ts";
import type { FetchDependencies, TaskDelivery, WorkOutcome } from "./dependencies.ts";
import { createFetchRecord, type FetchRecord } from "./metrics.ts";
import type { TaskLease } from "./task-lease.ts";
import { workThrough } from "./work-task.ts";

export async function runFetchTask(
  dependencies: FetchDependencies,
  task: FetchTask,
  delivery: TaskDelivery,
): Promise<void> {
  const log = delivery.log.with({ job_id: task.jobId, task_id: task.taskId, host: task.host });
  const owner = uuidv7();
  let taken = await dependencies.leases.take(task.taskId, owner);
  // a job that was cancelled has nothing to wait for
  if (taken.outcome === "busy" && taken.deferred && (await dependencies.flags.isCancelled(task.jobId))) {
    taken = await dependencies.leases.take(task.taskId, owner, "early");
  }
  if (taken.outcome === "completed") return log.info("task is completed: this delivery is a duplicate");
  if (taken.outcome === "busy") {
    const outdated = task.deferrals !== null && task.deferrals < taken.deferrals;
    if (delivery.receiveCount === 1 && (outdated || !taken.deferred)) {
      return log.info("task is in other hands: this delivery is a duplicate");
    }
    // the holder may have died, or the time it was deferred to have been by a clock that is put right: this may be the
    // task's only message
    return await sendAgain(dependencies, task, Math.min(MAX_DELAY_MS, taken.remainingMs));
  }
  const record = createFetchRecord();
  try {
    await workWithLease(dependencies, task, taken.lease, { ...delivery, log }, record);
  } finally {
    record.write(log, dependencies.clock.now());
  }
}

async function workWithLease(
  dependencies: FetchDependencies,
  task: FetchTask,
  lease: TaskLease,
  delivery: TaskDelivery,
  record: FetchRecord,
): Promise<void> {
  const { log } = delivery;
  let outcome: WorkOutcome;
  try {
    outcome = await workThrough(dependencies, task, lease, delivery, record);
  } catch (error) {
    await release(lease, log);
    throw error;
  }
  if (outcome.kind === "later") {
    // a job whose time is up has nothing to wait for
    const leftMs = task.deadline === null ? MAX_DELAY_MS : task.deadline - dependencies.clock.now();
    // in whole seconds, as a queue counts: what is left of the wait the next worker waits by itself
    const delayMs = Math.max(MIN_DELAY_MS, 1000 * Math.floor(Math.min(MAX_DELAY_MS, leftMs, outcome.waitMs) / 1000));
    log.info("task goes on later", { delay_ms: delayMs, done: lease.done, urls: task.urls.length });
    const deferrals = await lease.defer(delayMs);
    if (deferrals === undefined) return;
    record.deferred(delayMs);
    // who cancels later finds the deferral, and wakes the task
    const cancelled = await dependencies.flags.isCancelled(task.jobId);
    await sendAgain(dependencies, { ...task, deferrals }, cancelled ? MIN_DELAY_MS : delayMs);
  } else if (outcome.kind === "done") {
    await lease.complete();
  } else {
    log.warn("the lease was lost: another delivery goes on with the task");
  }
}

/** SQS counts delays in seconds and holds a message for 15 minutes at the most. */
const MIN_DELAY_MS = 1000;
const MAX_DELAY_MS = 900_000;

async function sendAgain({ queues }: FetchDependencies, task: FetchTask, delayMs: number): Promise<void> {
  await queues.send(fetchQueue(task.priority), task, Math.max(1, Math.ceil(delayMs / 1000)));
}

/** So that the next delivery need not wait for the lease to end. */
async function release(lease: TaskLease, log: Logger): Promise<void> {
  try {
    await lease.defer(0);
  } catch (error) {
    log.warn("the lease could not be given back: it ends by itself", { error });
  }
}
