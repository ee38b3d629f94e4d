/** Writes captures, documents and chunks; claims the next URLs of the frontier. */
import { z } from "zod";
import { capturesMessageSchema } from "../../shared/capture/capture-batch.ts";
import { ingestBatch } from "../../shared/crawl/ingest/ingest-batch.ts";
import { cachedTaskSchema, ingestFromCache } from "../../shared/crawl/ingest/ingest-cached.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: z.union([capturesMessageSchema, cachedTaskSchema]),
  handle: async (message, delivery, container) => {
    const ingest = { ...container, log: delivery.log };
    await ("fromCache" in message ? ingestFromCache(ingest, message) : ingestBatch(ingest, message, delivery));
  },
});
