/** Writes captures, documents and chunks; claims the next URLs of the frontier. */
import { z } from "zod";
import { capturesMessageSchema } from "../../shared/capture/capture-batch.ts";
import { ingestBatch } from "../../shared/crawl/ingest/ingest-batch.ts";
import { cachedTaskSchema, ingestFromCache } from "../../shared/crawl/ingest/ingest-cached.ts";
import { recordTaskNote } from "../../shared/crawl/jobs/lifecycle.ts";
import { taskNoteSchema } from "../../shared/crawl/tasks/task-note.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: z.union([capturesMessageSchema, cachedTaskSchema, taskNoteSchema]),
  handle: async (message, delivery, container) => {
    const ingest = { ...container, log: delivery.log };
    if ("fromCache" in message) await ingestFromCache(ingest, message);
    else if ("waits" in message) await recordTaskNote(ingest.sql, message);
    else await ingestBatch(ingest, message, delivery);
  },
});
