/** Writes jobs as WACZ files. */
import { runExport } from "../../shared/archive/wacz/exports.ts";
import { exportTaskSchema } from "../../shared/archive/wacz/task.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: exportTaskSchema,
  handle: async ({ exportId }, { log, remainingMs }, container) =>
    await runExport({ ...container, log }, exportId, remainingMs),
});
