/** What works on the WARC files of the archive, built once per container. */
import type { RunnerDependencies } from "../../shared/archive/files/run-slice.ts";
import { s3Client } from "../../shared/platform/aws/clients.ts";
import { createListedObjects } from "../../shared/platform/aws/listed-objects.ts";
import { createObjectWriters } from "../../shared/platform/aws/multipart.ts";
import { createUploads } from "../../shared/platform/aws/uploads.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

const HOUR_MS = 3_600_000;

export const dependencies = once(() => {
  const container = createQueueContainer("warc-keep");
  const { config } = container;
  const s3 = s3Client();
  return {
    ...container,
    sql: configuredDatabase(config),
    objects: createListedObjects(s3, config.bucket),
    uploads: createUploads(s3, config.bucket),
    openWriter: createObjectWriters(s3, config.bucket),
    limits: {
      targetBytes: config.mergedWarcMb * 1_000_000,
      mergedMs: config.mergedWarcHours * HOUR_MS,
      unusedMs: config.unusedWarcDays * 24 * HOUR_MS,
    },
  } satisfies RunnerDependencies & Record<string, unknown>;
});
