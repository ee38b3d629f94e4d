/** Writes captures, documents and chunks; claims the next URLs of the frontier. */
import { capturesMessageSchema } from "../../shared/capture/capture-batch.ts";
import { ingestBatch } from "../../shared/crawl/ingest-batch.ts";
import { createQueueHandler } from "../adapters/queue-consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, () => ({
  schema: capturesMessageSchema,
  handle: async (message, { log }) => await ingestBatch({ ...dependencies(), log }, message),
}));
