/** Ends the work of messages that no delivery could complete, so that their jobs end. */
import { z } from "zod";
import { buryDeadLetter } from "../../shared/crawl/dead-letters.ts";
import { s3Client, sqsClient } from "../../shared/platform/aws.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { configuredDatabase } from "../../shared/platform/database.ts";
import { createLogger } from "../../shared/platform/log.ts";
import { createObjectStore } from "../../shared/platform/objects.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueSender } from "../../shared/platform/queues.ts";
import { createQueueHandler } from "../adapters/queue-consumer.ts";

const dependencies = once(() => {
  const config = loadConfig();
  const sqs = sqsClient();
  return {
    sqs,
    queueUrlPrefix: config.queueUrlPrefix,
    queues: createQueueSender(sqs, config.queueUrlPrefix),
    sql: configuredDatabase(config),
    objects: createObjectStore(s3Client(), config.bucket),
    log: createLogger({ function: "dead-letter" }, config.logLevel),
  };
});

export const handler = createQueueHandler(dependencies, () => ({
  schema: z.string(),
  body: "text",
  handle: async (body, { messageId, queue, receiveCount, log }) => {
    const letter = { queue: queue.replace(/-dlq$/, ""), messageId, body, receiveCount };
    await buryDeadLetter({ ...dependencies(), log }, letter);
  },
}));
