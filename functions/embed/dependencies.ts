import { openVectorSide } from "../../shared/knowledge/vector-side.ts";
import { sqsClient } from "../../shared/platform/aws.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { configuredDatabase } from "../../shared/platform/database.ts";
import { createLogger } from "../../shared/platform/log.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueSender } from "../../shared/platform/queues.ts";

/** Built once per container. */
export const dependencies = once(() => {
  const config = loadConfig();
  const sqs = sqsClient();
  return {
    sqs,
    queues: createQueueSender(sqs, config.queueUrlPrefix),
    queueUrlPrefix: config.queueUrlPrefix,
    log: createLogger({ function: "embed" }, config.logLevel),
    sql: configuredDatabase(config),
    vectorSide: openVectorSide(config),
  };
});
