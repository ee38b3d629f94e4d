/** Has due deliveries to webhooks made, each minute and when told so, and writes down what came of them. */
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { z } from "zod";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { createAttempts, type ResultMessage, resultMessageSchema } from "../../shared/notify/webhooks/attempts.ts";
import { recordResult, sendDue } from "../../shared/notify/webhooks/due.ts";
import { tellProgress } from "../../shared/notify/webhooks/outbox.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createInvokedHandler } from "../adapters/invoked/handler.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

const dependencies = once(() => {
  const container = createQueueContainer("webhooks");
  const { config } = container;
  const dynamo = dynamoClient();
  return {
    ...container,
    sql: configuredDatabase(config),
    flags: createJobFlags(dynamo, config.stateTable),
    attempts: createAttempts(dynamo, config.stateTable),
  };
});

/** For the deliveries that are being sent on their way. */
const RESERVE_MS = 10_000;

const onMessage = createQueueHandler(dependencies, {
  schema: resultMessageSchema,
  handle: async (message: ResultMessage, { log, remainingMs }, container) => {
    if ("due" in message) await sendDue({ ...container, log }, () => remainingMs() > RESERVE_MS);
    else await recordResult({ ...container, log }, message);
  },
});

const onSchedule = createInvokedHandler({
  schema: z.unknown(),
  handle: async (_event, { remainingMs }) => {
    const all = dependencies();
    // an idle system leaves the database alone, so that it may pause: the sweep keeps the marker while deliveries wait
    if ((await all.flags.activeSince()) === undefined) return { progress: 0, sent: 0 };
    const progress = await tellProgress(all.sql);
    return { progress, sent: await sendDue(all, () => remainingMs() > RESERVE_MS) };
  },
});

type Done = SQSBatchResponse | { progress: number; sent: number };

const isQueueEvent = (event: unknown): event is SQSEvent =>
  typeof event === "object" && event !== null && "Records" in event;

export async function handler(event: unknown, context: Context): Promise<Done> {
  return isQueueEvent(event) ? await onMessage(event, context) : await onSchedule(event, context);
}
