/** Sends messages to the queues. A message is a hint that a row has work; the row decides. */
import {
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { systemClock } from "../clock.ts";
import { PermanentError, RetryableError } from "../errors.ts";
import { retryTransient } from "../transient-errors.ts";

export interface QueueSender {
  /**
   * @param queue the queue's name in the topology;
   * @param delaySeconds 0 to 900
   * @throws MessagesRefused where no try could succeed
   */
  send(queue: string, message: unknown, delaySeconds?: number): Promise<void>;
  /**
   * A body that is already text, as it stands.
   * @param attributes texts that go along, for those who deliver it
   */
  sendRaw(queue: string, body: string, attributes?: Readonly<Record<string, string>>): Promise<void>;
  /** @throws MessagesRefused with those that no try could send; RetryableError naming how many were refused for now */
  sendAll(queue: string, messages: readonly unknown[]): Promise<void>;
}

/** Attribute of a message in a dead-letter queue: the code of its permanent fault. */
export const PERMANENT_FAULT = "permanent_fault";

/** Messages that can never be sent, as they are: too large, or refused by the queue service as faulty. */
export class MessagesRefused extends PermanentError {
  /** As they were given. */
  readonly messages: readonly unknown[];

  constructor(messages: readonly unknown[], message: string, cause?: unknown) {
    super(message, { code: "MESSAGE_REFUSED", cause });
    this.messages = messages;
  }
}

/** The most that SQS takes in one call: messages, and UTF-8 bytes of all their bodies. */
const BATCH_SIZE = 10;
const BATCH_BYTES = 1_000_000;
/** The largest body that SQS takes, without attributes. */
const LARGEST_BODY_BYTES = 1_048_576;

/** What SQS calls it where a message is at fault. */
const FAULTY_MESSAGE = /^(InvalidMessageContents|InvalidParameterValue|InvalidAttributeValue)$/;

/**
 * Writes a message as ASCII, whatever texts it holds: queue services differ in the characters that they take.
 * @returns JSON with `\uXXXX` for every code unit beyond ASCII, so that its length is its size in bytes
 */
export function messageBody(message: unknown): string {
  return JSON.stringify(message).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * By the group SQS shares a queue fairly: one job's many messages do not hold up those of another
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html).
 */
function groupOf(message: unknown): { MessageGroupId?: string } {
  const { jobId } = (message ?? {}) as { jobId?: unknown };
  return typeof jobId === "string" ? { MessageGroupId: jobId } : {};
}

/** Makes the sender of a container. */
export function createQueueSender(sqs: SQSClient, urlPrefix: string): QueueSender {
  return {
    async send(queue, message, delaySeconds = 0) {
      const MessageBody = messageBody(message);
      if (MessageBody.length > LARGEST_BODY_BYTES) throw tooLarge(queue, [message]);
      const command = new SendMessageCommand({
        QueueUrl: urlPrefix + queue,
        MessageBody,
        DelaySeconds: Math.min(900, Math.ceil(delaySeconds)),
        ...groupOf(message),
      });
      await sqs.send(command).catch((cause: unknown) => {
        if (!(cause instanceof Error) || !FAULTY_MESSAGE.test(cause.name)) throw cause;
        throw new MessagesRefused([message], `A message was refused by ${queue}: ${cause.message}`, cause);
      });
    },
    async sendRaw(queue, body, attributes = {}) {
      const MessageAttributes = Object.fromEntries(
        Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: "String", StringValue }]),
      );
      await sqs.send(new SendMessageCommand({ QueueUrl: urlPrefix + queue, MessageBody: body, MessageAttributes }));
    },
    async sendAll(queue, messages) {
      const all = messages.map((message): Outgoing => ({ message, body: messageBody(message) }));
      const large = all.filter(({ body }) => body.length > LARGEST_BODY_BYTES);
      const faulty: unknown[] = large.map(({ message }) => message);
      let refusal = large.length === 0 ? undefined : tooLarge(queue, faulty);
      let lost: unknown;
      for (const batch of inBatches(all.filter(({ body }) => body.length <= LARGEST_BODY_BYTES))) {
        // one batch that is lost is no reason to lose those after it
        await sendBatch(sqs, { queue, QueueUrl: urlPrefix + queue, batch }).catch((error: unknown) => {
          if (error instanceof MessagesRefused) {
            faulty.push(...error.messages);
            refusal ??= error;
          } else lost ??= error;
        });
      }
      // those that are lost for the moment are asked for again by their rows, and the others by nobody
      if (refusal !== undefined) throw new MessagesRefused(faulty, refusal.message, refusal);
      if (lost !== undefined) throw lost;
    },
  };
}

function tooLarge(queue: string, messages: readonly unknown[]): MessagesRefused {
  return new MessagesRefused(
    messages,
    `A message for ${queue} is over ${LARGEST_BODY_BYTES} bytes: ask for less at once`,
  );
}

interface Outgoing {
  message: unknown;
  body: string;
}

/** SQS did not take some messages of a batch for the moment. */
class MessagesPutOff extends RetryableError {
  override readonly name = "MessagesPutOff";
}
const REFUSALS = { tries: 4, firstPauseMs: 100, isTransient: (error: unknown) => error instanceof MessagesPutOff };

/** SQS may take some messages of a batch and refuse others for the moment, which the SDK does not send again. */
async function sendBatch(
  sqs: SQSClient,
  { queue, QueueUrl, batch }: { queue: string; QueueUrl: string; batch: readonly Outgoing[] },
): Promise<void> {
  let Entries = batch.map(({ message, body }, index) => ({
    Id: String(index),
    MessageBody: body,
    ...groupOf(message),
  }));
  const faulty = new Map<string, string>();
  const about = (count: number, why: string | undefined) =>
    `${count} of ${batch.length} messages were refused by ${queue}: ${why}`;
  const sendRest = () =>
    retryTransient(systemClock, REFUSALS, async () => {
      const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
      for (const { Id, SenderFault, Message, Code } of Failed) {
        if (SenderFault) faulty.set(String(Id), Message ?? String(Code));
      }
      const refused = new Set(Failed.map(({ Id }) => Id));
      Entries = Entries.filter(({ Id }) => refused.has(Id) && !faulty.has(Id));
      if (Entries.length === 0) return;
      const message = about(Entries.length, Failed.find(({ SenderFault }) => !SenderFault)?.Message);
      throw new MessagesPutOff(message, { code: "QUEUE_REFUSED" });
    });
  let lost: unknown;
  await sendRest().catch((error: unknown) => {
    lost = error;
  });
  if (faulty.size > 0) {
    const messages = [...faulty.keys()].map((id) => batch[Number(id)]?.message);
    throw new MessagesRefused(messages, about(faulty.size, [...faulty.values()][0]), lost);
  }
  if (lost !== undefined) throw lost;
}

function inBatches(all: readonly Outgoing[]): Outgoing[][] {
  const batches: Outgoing[][] = [];
  let bytes = 0;
  for (const each of all) {
    const last = batches.at(-1);
    const size = each.body.length;
    if (last === undefined || last.length === BATCH_SIZE || bytes + size > BATCH_BYTES) {
      batches.push([each]);
      bytes = size;
    } else {
      last.push(each);
      bytes += size;
    }
  }
  return batches;
}

const COUNTS = [
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesNotVisible",
  "ApproximateNumberOfMessagesDelayed",
] as const;

/** @returns a function that counts the messages of a queue, also those in somebody's hands: about, as SQS knows it */
export function createQueueCounter(sqs: SQSClient, urlPrefix: string): (queue: string) => Promise<number> {
  return async (queue) => {
    const asked = new GetQueueAttributesCommand({ QueueUrl: urlPrefix + queue, AttributeNames: [...COUNTS] });
    const { Attributes = {} } = await sqs.send(asked);
    return COUNTS.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
  };
}
