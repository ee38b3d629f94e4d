/** Messages of a queue as the event that Lambda makes of them, and its answer as what becomes of each. */
import { randomUUID } from "node:crypto";
import { ACCOUNT, REGION } from "../aws/emulators.ts";
import type { SqsStore } from "../aws/fauxqs.ts";
import type { FairTurns } from "./fair-turns.ts";
import { InvocationError } from "./invocation.ts";

export type SqsQueue = NonNullable<ReturnType<SqsStore["getQueueByName"]>>;
type Received = ReturnType<SqsQueue["dequeue"]>[number];

export interface Delivered {
  handle: string;
  message: ReturnType<typeof record>;
}

export interface Batches {
  batchSize: number;
  /** Whose message is next. */
  turns: FairTurns;
  /** Called before each call of SQS. */
  onCall(): void;
}

/** Takes up to `batchSize` messages, those of each job in turn. One call takes ten; Lambda's batches may be larger. */
export function takeBatch(queue: SqsQueue, queues: SqsStore, { batchSize, turns, onCall }: Batches): Delivered[] {
  const received: Received[] = [];
  turns.moveForward(queue.messages, batchSize);
  while (received.length < batchSize) {
    onCall();
    const more = queue.dequeue(Math.min(10, batchSize - received.length), undefined, (arn) =>
      queues.getQueueByArn(arn),
    );
    if (more.length === 0) break;
    received.push(...more);
  }
  return received.map((message) => ({ handle: message.ReceiptHandle, message: record(queue, message) }));
}

/** The shape of https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html */
function record(queue: SqsQueue, received: Received) {
  const message = queue.inflightMessages.get(received.ReceiptHandle)?.message;
  const attributes = Object.entries(received.MessageAttributes ?? {}).map(([name, attribute]) => [
    name,
    {
      dataType: attribute.DataType,
      ...(attribute.StringValue === undefined ? {} : { stringValue: attribute.StringValue }),
      ...(attribute.BinaryValue === undefined ? {} : { binaryValue: attribute.BinaryValue }),
    },
  ]);
  return {
    messageId: received.MessageId,
    receiptHandle: received.ReceiptHandle,
    body: received.Body,
    attributes: {
      ApproximateReceiveCount: String(message?.approximateReceiveCount ?? 1),
      SentTimestamp: String(message?.sentTimestamp ?? Date.now()),
      SenderId: ACCOUNT,
      ApproximateFirstReceiveTimestamp: String(message?.approximateFirstReceiveTimestamp ?? Date.now()),
    },
    messageAttributes: Object.fromEntries(attributes) as Record<string, unknown>,
    md5OfBody: received.MD5OfBody,
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:${REGION}:${ACCOUNT}:${queue.name}`,
    awsRegion: REGION,
  };
}

/** In place of an id: a list of failures that is none. */
const EVERYTHING = "*";

/**
 * Which messages must be delivered again, as Lambda reads the answer: one that is no batch response means that none
 * failed.
 * @throws InvocationError where a failure names no message: then all are delivered again
 */
export function failuresOf(answer: unknown, queue: string, functionName: string): (messageId: string) => boolean {
  const failed = failedIds(answer, queue, functionName);
  return (messageId) => failed.has(messageId) || failed.has(EVERYTHING);
}

function failedIds(answer: unknown, queue: string, functionName: string): Set<string> {
  if (typeof answer !== "object" || answer === null || !("batchItemFailures" in answer)) return new Set();
  const { batchItemFailures } = answer;
  if (batchItemFailures === null) return new Set();
  if (!Array.isArray(batchItemFailures)) return new Set([EVERYTHING]);
  return new Set(
    batchItemFailures.map((failure: unknown) => {
      const id = (failure as { itemIdentifier?: unknown } | null)?.itemIdentifier;
      if (typeof id === "string" && id !== "") return id;
      throw new InvocationError("error", `A batch item failure without itemIdentifier, for ${queue}`, {
        functionName,
        requestId: randomUUID(),
      });
    }),
  );
}
