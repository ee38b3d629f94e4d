/** Has messages that no delivery could complete sent again later, or ends their work, so that their jobs end. */
import { z } from "zod";
import { resumeUploads } from "../../shared/archive/import/recovery.ts";
import { IMPORTS_QUEUE } from "../../shared/archive/import/task.ts";
import { recordDeadLetter } from "../../shared/crawl/recovery/dead-letters.ts";
import { firstQueueOf } from "../../shared/crawl/tasks/fetch-task.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { dynamoClient, s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";
import { alsoDraining } from "../adapters/queue/drain.ts";

const dependencies = once(() => {
  const container = createQueueContainer("dead-letter");
  const { config } = container;
  return {
    ...container,
    sql: configuredDatabase(config),
    objects: createObjectStore(s3Client(), config.bucket),
    flags: createJobFlags(dynamoClient(), config.stateTable),
    redrive: { most: config.mostRedrives, firstS: config.firstRedriveS },
  };
});

const consume = createQueueHandler(dependencies, {
  schema: z.string(),
  body: "text",
  handle: async (body, { messageId, queue, receiveCount, attributes, log }, container) => {
    const letter = { queue: firstQueueOf(queue.replace(/-dlq$/, ""), body), messageId, body, receiveCount, attributes };
    if (letter.queue === IMPORTS_QUEUE) await resumeUploads(container, body);
    await recordDeadLetter({ ...container, log }, letter);
  },
});

export const handler = alsoDraining(dependencies, consume);
