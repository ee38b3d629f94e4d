/**
 * The one way to consume a queue: every record is parsed, handled and answered for by itself. A retryable fault returns to
 * the queue with a growing delay; a permanent one goes to the dead-letter queue at once; both are logged with their cause.
 *
 * A service that is down says nothing of the message: then it is tried for as long as the queue allows, some six minutes.
 */
import { ChangeMessageVisibilityCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { z } from "zod";
import { PERMANENT_FAULT, type QueueSender } from "../../../shared/platform/aws/queues.ts";
import { PermanentError, ThrottledError } from "../../../shared/platform/errors.ts";
import type { Logger } from "../../../shared/platform/observability/log.ts";
import { isTransientError } from "../../../shared/platform/transient-errors.ts";

export interface QueueConsumer<Message> {
  schema: z.ZodType<Message>;
  /** What the schema is given: the parsed body by default, or the body as it stands. */
  body?: "json" | "text";
  handle(message: Message, delivery: Delivery): Promise<void>;
}

export interface Delivery {
  messageId: string;
  queue: string;
  /** 1 for the first delivery. */
  receiveCount: number;
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

const DEAD_LETTERS = "-dlq";
const FIRST_RETRY_S = 1;
const LONGEST_RETRY_S = 60;
/** Deliveries of a message that fails by itself, and may be one of those that always will. */
const TRIES_OF_A_MESSAGE = 5;

export function createQueueHandler<Message>(
  dependencies: () => ConsumerDependencies | Promise<ConsumerDependencies>,
  consumer: () => QueueConsumer<Message> | Promise<QueueConsumer<Message>>,
): (event: SQSEvent, context: Pick<Context, "getRemainingTimeInMillis">) => Promise<SQSBatchResponse> {
  return async (event, context) => {
    const shared = await dependencies();
    const each = await consumer();
    const outcomes = await Promise.all(
      event.Records.map((record) => handleRecord(record, each, shared, () => context.getRemainingTimeInMillis())),
    );
    return { batchItemFailures: outcomes.filter((id) => id !== undefined).map((id) => ({ itemIdentifier: id })) };
  };
}

/** @returns the id of the message where it must be delivered again */
async function handleRecord<Message>(
  record: SQSRecord,
  { schema, handle, body }: QueueConsumer<Message>,
  { sqs, queues, queueUrlPrefix, log: base }: ConsumerDependencies,
  remainingMs: () => number,
): Promise<string | undefined> {
  const queue = topologyName(record.eventSourceARN, queueUrlPrefix);
  const receiveCount = Number(record.attributes.ApproximateReceiveCount);
  const attributes = textAttributes(record);
  const log = base.with({ queue, message_id: record.messageId, receive_count: receiveCount });
  try {
    await handle(parseMessage(record.body, schema, body), {
      messageId: record.messageId,
      queue,
      receiveCount,
      attributes,
      remainingMs,
      log,
    });
    return undefined;
  } catch (error) {
    const failsByItself =
      receiveCount >= TRIES_OF_A_MESSAGE && !isTransientError(error) && !queue.endsWith(DEAD_LETTERS);
    if (error instanceof PermanentError || failsByItself) {
      log.error("message can never be handled: it goes to the dead-letter queue", { error });
      try {
        // what fails only for now is sent again from there; what can never be handled says so
        const verdict = error instanceof PermanentError ? { [PERMANENT_FAULT]: error.code } : {};
        await queues.sendRaw(queue + DEAD_LETTERS, record.body, { ...attributes, ...verdict });
        return undefined;
      } catch (sendError) {
        log.error("the dead-letter queue did not take the message: it is delivered again", { error: sendError });
        return record.messageId;
      }
    }
    log.warn("message failed: it is delivered again", { error });
    const asked = error instanceof ThrottledError ? Math.ceil(error.retryAfterMs / 1000) : 0;
    const delay = Math.max(asked, FIRST_RETRY_S * 2 ** (receiveCount - 1));
    const VisibilityTimeout = Math.min(LONGEST_RETRY_S, delay);
    try {
      const QueueUrl = queueUrlPrefix + queue;
      await sqs.send(
        new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: record.receiptHandle, VisibilityTimeout }),
      );
    } catch (visibilityError) {
      log.warn("the retry keeps the queue's own delay", { error: visibilityError });
    }
    return record.messageId;
  }
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

function parseMessage<Message>(
  body: string,
  schema: z.ZodType<Message>,
  kind: QueueConsumer<Message>["body"] = "json",
): Message {
  const value = kind === "json" ? parseJson(body) : body;
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    throw new PermanentError(`The message has the wrong shape: ${parsed.error.message}`, { code: "MESSAGE_INVALID" });
  }
  return parsed.data;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new PermanentError("The message is not JSON", { code: "MESSAGE_INVALID", cause });
  }
}
