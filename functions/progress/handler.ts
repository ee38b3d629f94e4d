/** Reads each second a job that somebody listens to, and hands what has changed to `push`. */
import { takeRound, updateMessageSchema } from "../../shared/notify/update-loop.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: updateMessageSchema,
  handle: (message, _delivery, container) => takeRound(container, message),
});
