/** What the WARC indexer works with, built once per container. */
import type { IndexerDependencies } from "../../shared/archive/import/index-slice.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { dynamoClient, s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectWriters } from "../../shared/platform/aws/multipart.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { createUploads } from "../../shared/platform/aws/uploads.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

export const dependencies = once(() => {
  const container = createQueueContainer("warc-index");
  const { config } = container;
  return {
    ...container,
    sql: configuredDatabase(config),
    objects: createObjectStore(s3Client(), config.bucket),
    uploads: createUploads(s3Client(), config.bucket),
    openWriter: createObjectWriters(s3Client(), config.bucket),
    flags: createJobFlags(dynamoClient(), config.stateTable),
  } satisfies IndexerDependencies & Record<string, unknown>;
});
