/** Sends fetch tasks. */
import { MessagesRefused } from "../../platform/aws/queues.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { fetchQueue } from "../tasks/fetch-task.ts";
import type { ClaimedTask } from "./build-task.ts";
import { endTask } from "./end-task.ts";
import { lockTask } from "./frontier.ts";

type Dependencies = Pick<JobDependencies, "sql" | "queues" | "log">;

/**
 * Sends the tasks. To be called after the commit: a task that is lost here is sent again by the sweep. The URLs of one
 * that can never be sent end as failed (TASK_REFUSED), and what is claimed in their stead is sent, too.
 */
export async function dispatch(dependencies: Dependencies, tasks: readonly ClaimedTask[]): Promise<void> {
  let next = tasks;
  while (next.length > 0) {
    const refused = await sendTasks(dependencies, next);
    const instead: ClaimedTask[] = [];
    for (const { jobId, taskId } of refused) {
      const outcome = { state: "failed", errorCode: "TASK_REFUSED" } as const;
      const { tasks: claimed } = await endTask(dependencies, jobId, taskId, outcome, (tx) =>
        lockTask(tx, jobId, taskId),
      );
      instead.push(...claimed);
    }
    next = instead;
  }
}

interface TaskName {
  jobId: string;
  taskId: string;
}

/** @returns those that can never be sent */
async function sendTasks({ queues, log }: Dependencies, tasks: readonly ClaimedTask[]): Promise<TaskName[]> {
  const refused: TaskName[] = [];
  const lost = (error: unknown, some: readonly TaskName[]): void => {
    const about = { error, job_id: some[0]?.jobId, task_ids: some.map(({ taskId }) => taskId) };
    if (error instanceof MessagesRefused) {
      refused.push(...(error.messages as TaskName[]));
      log.error("fetch tasks cannot be sent as they are: their URLs end as failed", about);
    } else log.warn("fetch tasks were not sent: the sweep sends them once their lease lapses", about);
  };
  const known = tasks.filter(({ fromCache }) => fromCache).map(({ task }) => task);
  if (known.length > 0) {
    const messages = known.map(({ jobId, taskId }) => ({ jobId, taskId, fromCache: true }));
    await queues.sendAll("captures", messages).catch((error: unknown) => lost(error, known));
  }
  const delayed = tasks.filter(({ delayS, fromCache }) => delayS > 0 && !fromCache);
  const ready = Map.groupBy(
    tasks.filter(({ delayS, fromCache }) => delayS === 0 && !fromCache).map(({ task }) => task),
    ({ priority }) => fetchQueue(priority),
  );
  for (const [queue, some] of ready) await queues.sendAll(queue, some).catch((error: unknown) => lost(error, some));
  for (const { task, delayS } of delayed) {
    await queues.send(fetchQueue(task.priority), task, delayS).catch((error: unknown) => lost(error, [task]));
  }
  return refused;
}
