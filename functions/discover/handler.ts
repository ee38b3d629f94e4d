/** Reads the sitemaps and feeds of a site, what Common Crawl knows of it, and the lists of monitored sources. */
import { z } from "zod";
import { discover } from "../../shared/crawl/discovery/discover.ts";
import { listTaskSchema } from "../../shared/crawl/discovery/list-task.ts";
import { readMonitoredList } from "../../shared/crawl/discovery/monitored-list.ts";
import { discoveryTaskSchema } from "../../shared/crawl/discovery/task.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: z.union([discoveryTaskSchema, listTaskSchema]),
  handle: (task, delivery, container) =>
    "list" in task ? readMonitoredList(container, task, delivery) : discover(container, task, delivery),
});
