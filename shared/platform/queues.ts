/** Messages out. A message is a hint that a row has work; the row decides. */
import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { RetryableError } from "./errors.ts";

export interface QueueSender {
  /** @param queue the queue's name in the topology; @param delaySeconds 0 to 900 */
  send(queue: string, message: unknown, delaySeconds?: number): Promise<void>;
  /** A body that is already text, as it stands. */
  sendRaw(queue: string, body: string): Promise<void>;
  /** @throws RetryableError naming how many were refused */
  sendAll(queue: string, messages: readonly unknown[]): Promise<void>;
}

/** The most that SQS takes in one call. */
const BATCH_SIZE = 10;

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
    async sendRaw(queue, body) {
      await sqs.send(new SendMessageCommand({ QueueUrl: urlPrefix + queue, MessageBody: body }));
    },
    async sendAll(queue, messages) {
      for (let start = 0; start < messages.length; start += BATCH_SIZE) {
        const Entries = messages
          .slice(start, start + BATCH_SIZE)
          .map((message, index) => ({ Id: String(index), MessageBody: JSON.stringify(message) }));
        const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: urlPrefix + queue, Entries }));
        if (Failed.length > 0) {
          throw new RetryableError(
            `${Failed.length} of ${Entries.length} messages were refused by ${queue}: ${Failed[0]?.Message}`,
            {
              code: "QUEUE_REFUSED",
            },
          );
        }
      }
    },
  };
}
