/** Reads each second a job that somebody listens to, and hands what has changed to `push`. */
import { takeRound, updateMessageSchema } from "../../shared/notify/update-loop.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: updateMessageSchema,
  async handle(message, _delivery, container) {
    await container.listening.note(message.jobId);
    await takeRound(container, message);
  },
});
