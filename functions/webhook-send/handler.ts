/** Makes deliveries to webhooks, and tells what came of them. It has no database. */
import { createUrlGuard } from "../../shared/access/url-guard.ts";
import {
  type AttemptResult,
  attemptMessageSchema,
  createAttempts,
  RESULT_QUEUE,
} from "../../shared/notify/webhooks/attempts.ts";
import { sendAttempt } from "../../shared/notify/webhooks/send.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

const dependencies = once(() => {
  const container = createQueueContainer("webhook-send");
  const { config } = container;
  return {
    ...container,
    attempts: createAttempts(dynamoClient(), config.stateTable),
    guard: createUrlGuard({ allowHosts: config.allowHosts }),
  };
});

export const handler = createQueueHandler(dependencies, {
  schema: attemptMessageSchema,
  handle: async (message, _delivery, { attempts, guard, queues, config: { userAgent } }) => {
    const attempt = await attempts.read(message);
    // it was made: the message came twice
    if (attempt === undefined) return;
    const result = await sendAttempt({ guard, userAgent, now: systemClock.now }, message, attempt);
    await queues.send(RESULT_QUEUE, result satisfies AttemptResult);
    await attempts.remove(message);
  },
});
