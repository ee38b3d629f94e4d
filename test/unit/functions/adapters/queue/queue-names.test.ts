import { SQSClient } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { z } from "zod";
import { createQueueHandler } from "../../../../../functions/adapters/queue/consumer.ts";
import { createLogger } from "../../../../../shared/platform/observability/log.ts";

async function queueSeenBy(queueUrlPrefix: string, physicalName: string): Promise<string | undefined> {
  let seen: string | undefined;
  const queues = { send: async () => {}, sendRaw: async () => {}, sendAll: async () => {} };
  const log = createLogger({}, "error");
  const handler = createQueueHandler(
    () => ({ sqs: new SQSClient({ region: "eu-central-1" }), queues, queueUrlPrefix, log }),
    {
      schema: z.unknown(),
      handle: async (_message, { queue }) => {
        seen = queue;
      },
    },
  );
  const record = {
    messageId: "1",
    receiptHandle: "1",
    body: "{}",
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: "0",
      SenderId: "",
      ApproximateFirstReceiveTimestamp: "0",
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:eu-central-1:000000000000:${physicalName}`,
    awsRegion: "eu-central-1",
  };
  await handler({ Records: [record] }, { getRemainingTimeInMillis: () => 1000 });
  return seen;
}

test("a consumer sees the topology's name of a queue, whatever the deployment puts before it", async () => {
  expect(await queueSeenBy("https://sqs.eu-central-1.amazonaws.com/0/strandline-", "strandline-captures")).toBe(
    "captures",
  );
  expect(await queueSeenBy("http://127.0.0.1:4566/0/", "captures-dlq")).toBe("captures-dlq");
});
