/** Reads the sitemaps and feeds of a site, and what Common Crawl knows of it. */
import { discover } from "../../shared/crawl/discovery/discover.ts";
import { discoveryTaskSchema } from "../../shared/crawl/discovery/task.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: discoveryTaskSchema,
  handle: (task, delivery, container) => discover(container, task, delivery),
});
