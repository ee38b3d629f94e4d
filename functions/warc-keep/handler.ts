/** Verifies, consolidates and cleans the WARC files of the archive, slice by slice. */
import { runSlice } from "../../shared/archive/files/run-slice.ts";
import { warcRunTaskSchema } from "../../shared/archive/files/task.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: warcRunTaskSchema,
  handle: async ({ runId }, { log, remainingMs }, container) =>
    await runSlice({ ...container, log }, runId, remainingMs),
});
