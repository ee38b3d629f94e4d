/** Records how a discovery began and ended, and gives jobs of monitored sources what their lists name. */
import { takeDiscovered } from "../../shared/crawl/discovery/jobs.ts";
import { discoveredSchema } from "../../shared/crawl/discovery/task.ts";
import { takeList } from "../../shared/crawl/sources/take-list.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { dynamoClient, s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

const dependencies = once(() => {
  const container = createQueueContainer("discovered");
  const { config } = container;
  return {
    ...container,
    sql: configuredDatabase(config),
    objects: createObjectStore(s3Client(), config.bucket),
    flags: createJobFlags(dynamoClient(), config.stateTable),
  };
});

export const handler = createQueueHandler(dependencies, {
  schema: discoveredSchema,
  handle: async (message, { log }, container) => {
    const all = { ...container, log };
    const changed = message.event === "listed" ? await takeList(all, message) : await takeDiscovered(all, message);
    if (!changed) log.info("the discovery has gone on already", { job_id: message.jobId, event: message.event });
  },
});
