/** Opens fetched pages in a browser, archives their DOM, and delivers their captures. */
import { runRenderTask } from "../../shared/crawl/rendering/run-render.ts";
import { renderTaskSchema } from "../../shared/crawl/tasks/render-task.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: renderTaskSchema,
  handle: (task, delivery, container) => runRenderTask(container, task, delivery),
});
