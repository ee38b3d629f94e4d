/** Fetches the URLs of one task politely, writes their WARC, extracts their text. */
import { runFetchTask } from "../../shared/crawl/fetch/run-task.ts";
import { fetchTaskSchema } from "../../shared/crawl/tasks/fetch-task.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: fetchTaskSchema,
  handle: (task, delivery, container) => runFetchTask(container, task, delivery),
});
