/** What ingest works with, built once per container. */
import type { IngestDependencies } from "../../shared/crawl/ingest-batch.ts";
import { embedderDescriptor } from "../../shared/knowledge/embedder-registry.ts";
import { s3Client, sqsClient } from "../../shared/platform/aws.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { configuredDatabase } from "../../shared/platform/database.ts";
import { createLogger } from "../../shared/platform/log.ts";
import { createObjectStore } from "../../shared/platform/objects.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueSender } from "../../shared/platform/queues.ts";

export const dependencies = once(() => {
  const config = loadConfig();
  const sqs = sqsClient();
  return {
    sqs,
    queueUrlPrefix: config.queueUrlPrefix,
    queues: createQueueSender(sqs, config.queueUrlPrefix),
    sql: configuredDatabase(config),
    objects: createObjectStore(s3Client(), config.bucket),
    embedding: embedderDescriptor(config),
    log: createLogger({ function: "ingest" }, config.logLevel),
  } satisfies IngestDependencies & Record<string, unknown>;
});
