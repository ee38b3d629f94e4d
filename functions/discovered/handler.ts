/** Writes down how a discovery began and ended. */
import { takeDiscovered } from "../../shared/crawl/discovery/jobs.ts";
import { discoveredSchema } from "../../shared/crawl/discovery/task.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

const dependencies = once(() => {
  const container = createQueueContainer("discovered");
  return { ...container, sql: configuredDatabase(container.config) };
});

export const handler = createQueueHandler(dependencies, {
  schema: discoveredSchema,
  handle: async (message, { log }, { sql }) => {
    const changed = await takeDiscovered({ sql, log }, message);
    if (!changed) log.info("the discovery has gone on already", { job_id: message.jobId, event: message.event });
  },
});
