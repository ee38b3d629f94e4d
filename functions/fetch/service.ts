/**
 * Fetches as a service, in place of the function that queues wake: asks them itself, and works on many tasks at once,
 * each handled as the function does. At SIGTERM it takes no more, and sends what is not finished back for another.
 */
import { runFetchTask } from "../../shared/crawl/fetch/run-task.ts";
import { fetchTaskSchema, SHARED_QUEUE } from "../../shared/crawl/tasks/fetch-task.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { workQueue } from "../adapters/queue/worker.ts";
import { dependencies, type FetchContainer } from "./dependencies.ts";

/** Tasks of each queue at once: a backlog of one keeps nobody from another. */
const AT_ONCE = { "fetch-high": 40, "fetch-normal": 40, "fetch-low": 10, [SHARED_QUEUE]: 10 };
/** As long as the function may take for a task: what is not finished by then goes on by another message. */
const TASK_MS = 360_000;
/** After a service that is lost with its tasks, their messages are seen again. */
const HIDDEN_S = TASK_MS / 1000 + 30;
/** How long one question waits for a message, in seconds: what it brings after the signal is sent back, too. */
const WAIT_S = 10;

/** @param ending aborted when it is to end; resolves once nothing is at work */
export async function serveFetch(container: FetchContainer, ending: AbortSignal): Promise<void> {
  const handler = createQueueHandler(() => container, {
    schema: fetchTaskSchema,
    handle: (task, { receiveCount, log }) => {
      const end = container.clock.now() + TASK_MS;
      const remainingMs = () => end - container.clock.now();
      return runFetchTask(container, task, { receiveCount, log, remainingMs, hasCompany: () => true, ending });
    },
  });
  const serve = ([queue, most]: [string, number]) =>
    workQueue(container, {
      queue,
      most,
      waitS: WAIT_S,
      hiddenS: () => HIDDEN_S,
      handler,
      context: { getRemainingTimeInMillis: () => TASK_MS },
      takesMore: () => !ending.aborted,
      stays: true,
    });
  await Promise.all(Object.entries(AT_ONCE).map(serve));
}

if (import.meta.main) {
  const ending = new AbortController();
  process.once("SIGTERM", () => ending.abort());
  const container = dependencies();
  container.log.info("fetch serves the queues");
  await serveFetch(container, ending.signal);
  container.log.info("fetch has ended in order");
}
