/** Indexes WARC files that were uploaded, slice by slice. */
import { handleImportMessage } from "../../shared/archive/import/handle-message.ts";
import { importMessageSchema } from "../../shared/archive/import/task.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: importMessageSchema,
  handle: async (message, { log, remainingMs }, container) =>
    await handleImportMessage({ ...container, log }, message, remainingMs),
});
