/** What the exporter works with, built once per container. */
import type { ExporterDependencies } from "../../shared/archive/wacz/exports.ts";
import { s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectWriters } from "../../shared/platform/aws/multipart.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { createUploads } from "../../shared/platform/aws/uploads.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

export const dependencies = once(() => {
  const container = createQueueContainer("wacz-export");
  const { config } = container;
  const s3 = s3Client();
  return {
    ...container,
    sql: configuredDatabase(config),
    objects: createObjectStore(s3, config.bucket),
    uploads: createUploads(s3, config.bucket),
    openWriter: createObjectWriters(s3, config.bucket),
  } satisfies ExporterDependencies & Record<string, unknown>;
});
