/** One message as it is handed to a consumer, with what is known of this delivery. */
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import type { QueueSender } from "../../../shared/platform/aws/queues.ts";
import type { Logger } from "../../../shared/platform/observability/log.ts";

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

export function deliveryOf(
  record: SQSRecord,
  { queueUrlPrefix, log }: ConsumerDependencies,
  remainingMs: () => number,
): Delivery {
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
    remainingMs,
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
