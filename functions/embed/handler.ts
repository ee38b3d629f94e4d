/** Gives chunks their vectors and activates generations that are complete. */
import { settleJob } from "../../shared/crawl/job-lifecycle.ts";
import { embedTaskSchema } from "../../shared/knowledge/embed-task.ts";
import { embedChunks } from "../../shared/knowledge/embed-worker.ts";
import { createQueueHandler } from "../adapters/queue-consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, () => ({
  schema: embedTaskSchema,
  handle: async (task, { log }) => {
    const { sql, vectorSide } = dependencies();
    await embedChunks({ sql, vectorSide: await vectorSide(), settleJob, log }, task);
  },
}));
