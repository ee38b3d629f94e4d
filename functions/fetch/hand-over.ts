/**
 * Gives a task to a worker that waits for other hosts already, or becomes such a worker: the task goes through a queue
 * of which workers with room take. Whoever was woken for it stays until one of them has it, or takes it itself, so
 * that nothing has to listen to that queue.
 */
import { runFetchTask } from "../../shared/crawl/fetch/run-task.ts";
import { LAST_TAKEN_MS, TASKS_PER_WORKER } from "../../shared/crawl/fetch/shared-wait.ts";
import { type FetchTask, fetchTaskSchema, SHARED_QUEUE } from "../../shared/crawl/tasks/fetch-task.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import type { Delivery } from "../adapters/queue/delivery.ts";
import { workQueue } from "../adapters/queue/worker.ts";
import type { FetchContainer } from "./dependencies.ts";

/** Whether a worker with room has the task is looked at so often, in ms. */
const LOOK_MS = 200;
const FEWEST_LOOKS = 2;
/** Drawn, so that of many who are woken at once one is the first, and takes the tasks of the others. */
const MORE_LOOKS = 6;
const WAIT_S = 1;
/** After the end of a worker that is lost with its tasks. */
const HIDDEN_BEYOND_S = 30;

export async function handOver(
  task: FetchTask,
  { remainingMs }: Pick<Delivery, "remainingMs">,
  container: FetchContainer,
): Promise<void> {
  const { queues, leases, clock } = container;
  const takes = await leases.takes(task.taskId);
  await queues.send(SHARED_QUEUE, task);
  for (let looks = FEWEST_LOOKS + Math.random() * MORE_LOOKS; looks > 0; looks -= 1) {
    await clock.sleep(LOOK_MS);
    if ((await leases.takes(task.taskId)) > takes) return;
  }
  let running = 0;
  const handler = createQueueHandler(() => container, {
    schema: fetchTaskSchema,
    handle: (each, delivery) => runFetchTask(container, each, { ...delivery, hasCompany: () => running > 1 }),
  });
  await workQueue(container, {
    queue: SHARED_QUEUE,
    most: TASKS_PER_WORKER,
    waitS: WAIT_S,
    hiddenS: () => Math.ceil(remainingMs() / 1000) + HIDDEN_BEYOND_S,
    handler,
    context: { getRemainingTimeInMillis: remainingMs },
    takesMore: () => remainingMs() > LAST_TAKEN_MS,
    onRunning: (count) => {
      running = count;
    },
  });
}
