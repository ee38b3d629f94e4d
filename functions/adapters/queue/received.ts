/** Asks a queue for messages where no trigger hands them over, and gives them the shape that a trigger gives them. */
import {
  DeleteMessageBatchCommand,
  type Message,
  type MessageAttributeValue,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";
import type { SQSMessageAttribute, SQSRecord } from "aws-lambda";
import type { ConsumerDependencies } from "./delivery.ts";

type Queues = Pick<ConsumerDependencies, "sqs" | "queueUrlPrefix">;

export interface Asking {
  /** Messages at once, at the most: 1 to 10. */
  most: number;
  /** How long to wait for the first of them, in seconds; from 1 on all of SQS's servers are asked. */
  waitS: number;
  /** For how long they are hidden from others, in seconds; the queue's own time where it is left out. */
  hiddenS?: number;
}

export async function receiveRecords(
  { sqs, queueUrlPrefix }: Queues,
  queue: string,
  { most, waitS, hiddenS }: Asking,
): Promise<SQSRecord[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrlPrefix + queue,
      MaxNumberOfMessages: most,
      WaitTimeSeconds: waitS,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
      ...(hiddenS === undefined ? {} : { VisibilityTimeout: hiddenS }),
    }),
  );
  return Messages.map((message) => recordOf(message, queueUrlPrefix, queue));
}

/** @param records one to ten */
export async function removeRecords(
  { sqs, queueUrlPrefix }: Queues,
  queue: string,
  records: readonly SQSRecord[],
): Promise<void> {
  const Entries = records.map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
  await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrlPrefix + queue, Entries }));
}

/** As a trigger hands it over. The deployment's name stands before that of the queue, as it ends the URLs' prefix. */
function recordOf(message: Message, queueUrlPrefix: string, queue: string): SQSRecord {
  const { MessageId = "", ReceiptHandle = "", Body = "", Attributes = {}, MessageAttributes = {} } = message;
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Attributes as unknown as SQSRecord["attributes"],
    messageAttributes: Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, value]) => [name, attributeOf(value)]),
    ),
    md5OfBody: message.MD5OfBody ?? "",
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:::${queueUrlPrefix.split("/").at(-1)}${queue}`,
    awsRegion: "",
  };
}

const attributeOf = ({ DataType = "String", StringValue }: MessageAttributeValue): SQSMessageAttribute => ({
  dataType: DataType,
  ...(StringValue === undefined ? {} : { stringValue: StringValue }),
});
