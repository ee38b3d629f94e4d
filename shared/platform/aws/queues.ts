/** Sends messages to the queues. A message is a hint that a row has work; the row decides. */
import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { systemClock } from "../clock.ts";
import { RetryableError } from "../errors.ts";
import { retryTransient } from "../transient-errors.ts";

export interface QueueSender {
  /**
   * @param queue the queue's name in the topology;
   * @param delaySeconds 0 to 900
   */
  send(queue: string, message: unknown, delaySeconds?: number): Promise<void>;
  /**
   * A body that is already text, as it stands.
   * @param attributes texts that go along, for those who deliver it
   */
  sendRaw(queue: string, body: string, attributes?: Readonly<Record<string, string>>): Promise<void>;
  /** @throws RetryableError naming how many were refused */
  sendAll(queue: string, messages: readonly unknown[]): Promise<void>;
}

/** Attribute of a message in a dead-letter queue: the code of its permanent fault. */
export const PERMANENT_FAULT = "permanent_fault";

/** The most that SQS takes in one call: messages, and UTF-8 bytes of all their bodies. */
const BATCH_SIZE = 10;
const BATCH_BYTES = 1_000_000;

/** Makes the sender of a container. */
export function createQueueSender(sqs: SQSClient, urlPrefix: string): QueueSender {
  return {
    async send(queue, message, delaySeconds = 0) {
      await sqs.send(
        new SendMessageCommand({
          QueueUrl: urlPrefix + queue,
          MessageBody: JSON.stringify(message),
          DelaySeconds: Math.min(900, Math.ceil(delaySeconds)),
        }),
      );
    },
    async sendRaw(queue, body, attributes = {}) {
      const MessageAttributes = Object.fromEntries(
        Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: "String", StringValue }]),
      );
      await sqs.send(new SendMessageCommand({ QueueUrl: urlPrefix + queue, MessageBody: body, MessageAttributes }));
    },
    async sendAll(queue, messages) {
      let lost: unknown;
      for (const bodies of inBatches(messages.map((message) => JSON.stringify(message)))) {
        // one batch that is lost is no reason to lose those after it
        await sendBatch(sqs, { queue, QueueUrl: urlPrefix + queue, bodies }).catch((error: unknown) => {
          lost ??= error;
        });
      }
      if (lost !== undefined) throw lost;
    },
  };
}

/** SQS did not take some messages of a batch. */
class MessagesRefused extends RetryableError {
  override readonly name = "MessagesRefused";
}
const REFUSALS = { tries: 4, firstPauseMs: 100, isTransient: (error: unknown) => error instanceof MessagesRefused };

/** SQS may take some messages of a batch and refuse others for the moment, which the SDK does not send again. */
async function sendBatch(
  sqs: SQSClient,
  { queue, QueueUrl, bodies }: { queue: string; QueueUrl: string; bodies: readonly string[] },
): Promise<void> {
  let Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
  await retryTransient(systemClock, REFUSALS, async () => {
    const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    if (Failed.length === 0) return;
    const refused = new Set(Failed.map(({ Id }) => Id));
    Entries = Entries.filter(({ Id }) => refused.has(Id));
    const message = `${Failed.length} of ${bodies.length} messages were refused by ${queue}: ${Failed[0]?.Message}`;
    const Refused = Failed.every(({ SenderFault }) => SenderFault) ? RetryableError : MessagesRefused;
    throw new Refused(message, { code: "QUEUE_REFUSED" });
  });
}

function inBatches(bodies: readonly string[]): string[][] {
  const batches: string[][] = [];
  let bytes = 0;
  for (const body of bodies) {
    const last = batches.at(-1);
    const size = Buffer.byteLength(body);
    if (last === undefined || last.length === BATCH_SIZE || bytes + size > BATCH_BYTES) {
      batches.push([body]);
      bytes = size;
    } else {
      last.push(body);
      bytes += size;
    }
  }
  return batches;
}
