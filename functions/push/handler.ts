/** Writes an event to the WebSocket connections that wait for it. */
import { pushEvent, pushMessageSchema } from "../../shared/notify/push-event.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: pushMessageSchema,
  handle: (message, { log }, container) => pushEvent({ ...container, log }, message),
});
