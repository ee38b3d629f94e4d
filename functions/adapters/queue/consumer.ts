/**
 * The one way to consume a queue: each message is parsed, handled and answered for by itself, while the others of its batch go on.
 *
 * @example
 * export const handler = createQueueHandler(dependencies, {
 *   schema: thingSchema,
 *   handle: async (thing, { log }, { sql }) => await keepThing({ sql, log }, thing),
 * });
 */
import type { SQSClient } from "@aws-sdk/client-sqs";
import middy from "@middy/core";
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { z } from "zod";
import type { QueueSender } from "../../../shared/platform/aws/queues.ts";
import type { Logger } from "../../../shared/platform/observability/log.ts";
import { failureLog } from "../middleware/failure-log.ts";
import { NO_EARLY_END } from "../middleware/options.ts";
import { parsed } from "../middleware/parsed.ts";
import { type FailedDelivery, redelivery } from "./redelivery.ts";

export interface QueueConsumer<Message, Dependencies> {
  schema: z.ZodType<Message>;
  /** What the schema is given: the parsed body by default, or the body as it stands. */
  body?: "json" | "text";
  handle(message: Message, delivery: Delivery, dependencies: Dependencies): Promise<void>;
}

export interface Delivery {
  messageId: string;
  queue: string;
  /** 1 for the first delivery. */
  receiveCount: number;
  /** Names this delivery to the queue. */
  receiptHandle: string;
  /** As it was sent. */
  body: string;
  /** What was sent along with the body, where it is text. */
  attributes: Readonly<Record<string, string>>;
  /** Milliseconds until the function is stopped. */
  remainingMs(): number;
  log: Logger;
}

export interface ConsumerDependencies {
  sqs: SQSClient;
  queues: QueueSender;
  queueUrlPrefix: string;
  log: Logger;
}

type Invocation = Pick<Context, "getRemainingTimeInMillis"> & Partial<Pick<Context, "functionName">>;
export type QueueHandler = (event: SQSEvent, context: Invocation) => Promise<SQSBatchResponse>;

/** @param dependencies called for every batch; builds what the container keeps at the first call */
export function createQueueHandler<Message, Dependencies extends ConsumerDependencies>(
  dependencies: () => Dependencies | Promise<Dependencies>,
  { schema, body = "json", handle }: QueueConsumer<Message, Dependencies>,
): QueueHandler {
  const handler = middy<SQSEvent, SQSBatchResponse, Error, Invocation>(NO_EARLY_END)
    .use(failureLog())
    .handler(async ({ Records }, context) => {
      const shared = await dependencies();
      const handleOne = middy<unknown, FailedDelivery | undefined, Error, Delivery>(NO_EARLY_END)
        .use(parsed<Delivery>({ schema, from: body === "json" ? "json" : "value" }))
        .use(redelivery(shared))
        .handler(async (message, delivery) => void (await handle(message as Message, delivery, shared)));
      const outcomes = await Promise.all(
        Records.map((record) => handleOne(record.body, deliveryOf(record, shared, context))),
      );
      const again = Records.filter((_, index) => outcomes[index] === "again");
      return { batchItemFailures: again.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    });
  return async (event, context) => await handler(event, context);
}

function deliveryOf(record: SQSRecord, { queueUrlPrefix, log }: ConsumerDependencies, context: Invocation): Delivery {
  const { messageId, receiptHandle, body } = record;
  const queue = topologyName(record.eventSourceARN, queueUrlPrefix);
  const receiveCount = Number(record.attributes.ApproximateReceiveCount);
  return {
    messageId,
    queue,
    receiveCount,
    receiptHandle,
    body,
    attributes: textAttributes(record),
    remainingMs: () => context.getRemainingTimeInMillis(),
    log: log.with({ queue, message_id: messageId, receive_count: receiveCount }),
  };
}

function textAttributes({ messageAttributes }: SQSRecord): Record<string, string> {
  return Object.fromEntries(
    Object.entries(messageAttributes ?? {}).flatMap(([name, { stringValue }]) =>
      stringValue === undefined ? [] : [[name, stringValue]],
    ),
  );
}

/** The queue's name in the topology: a deployment puts its own name before it, which the URL prefix ends with. */
function topologyName(arn: string, queueUrlPrefix: string): string {
  const name = arn.split(":").at(-1) ?? "";
  const deployment = queueUrlPrefix.split("/").at(-1) ?? "";
  return name.startsWith(deployment) ? name.slice(deployment.length) : name;
}
