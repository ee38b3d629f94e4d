/** What every queue consumer builds once per container. */
import type { SQSClient } from "@aws-sdk/client-sqs";
import { sqsClient } from "../../../shared/platform/aws/clients.ts";
import { createQueueSender } from "../../../shared/platform/aws/queues.ts";
import { type Config, loadConfig } from "../../../shared/platform/config.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import type { ConsumerDependencies } from "./delivery.ts";

export interface QueueContainer extends ConsumerDependencies {
  config: Config;
  sqs: SQSClient;
}

/** @param name the function's, for its log lines */
export function createQueueContainer(name: string): QueueContainer {
  const config = loadConfig();
  const sqs = sqsClient();
  return {
    config,
    sqs,
    queueUrlPrefix: config.queueUrlPrefix,
    queues: createQueueSender(sqs, config.queueUrlPrefix),
    log: createLogger({ function: name }, config.logLevel),
  };
}
