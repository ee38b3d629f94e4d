/** What ingest works with, built once per container. */
import type { IngestDependencies } from "../../shared/crawl/ingest/dependencies.ts";
import { embedderDescriptor } from "../../shared/knowledge/embedders/registry.ts";
import { s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

export const dependencies = once(() => {
  const container = createQueueContainer("ingest");
  const { config } = container;
  return {
    ...container,
    sql: configuredDatabase(config),
    objects: createObjectStore(s3Client(), config.bucket),
    embedding: embedderDescriptor(config),
  } satisfies IngestDependencies & Record<string, unknown>;
});
