/** Gives chunks their vectors and activates generations that are complete. */
import { settleJob } from "../../shared/crawl/jobs/lifecycle.ts";
import { embedTaskSchema } from "../../shared/knowledge/embedding/embed-task.ts";
import { embedChunks } from "../../shared/knowledge/embedding/embed-worker.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: embedTaskSchema,
  handle: async (task, { log, receiveCount }, { sql, vectorSide }) => {
    await embedChunks({ sql, vectorSide: await vectorSide(), settleJob, log }, task, receiveCount);
  },
});
