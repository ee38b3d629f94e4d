/** Fetches the URLs of one task politely, writes their WARC, extracts their text. */
import { runFetchTask } from "../../shared/crawl/fetch/run-task.ts";
import { waitsLong } from "../../shared/crawl/fetch/shared-wait.ts";
import { fetchTaskSchema } from "../../shared/crawl/tasks/fetch-task.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";
import { handOver } from "./hand-over.ts";

export const handler = createQueueHandler(dependencies, {
  schema: fetchTaskSchema,
  handle: async (task, delivery, container) => {
    if (waitsLong(task, delivery, container)) await handOver(task, delivery, container);
    else await runFetchTask(container, task, delivery);
  },
});
