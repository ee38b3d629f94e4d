import { ChangeMessageVisibilityCommand, SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { expect, test } from "vitest";
import { z } from "zod";
import { createQueueHandler } from "../../../../../functions/adapters/queue/consumer.ts";
import { RetryableError, ThrottledError } from "../../../../../shared/platform/errors.ts";
import { createLogger } from "../../../../../shared/platform/observability/log.ts";

/** The delay in seconds that the consumer asks of the queue after this fault. */
async function delayAfter(fault: Error, receiveCount: number): Promise<number | undefined> {
  const sqs = mockClient(new SQSClient({ region: "eu-central-1" }));
  sqs.on(ChangeMessageVisibilityCommand).resolves({});
  const queues = { send: async () => {}, sendRaw: async () => {}, sendAll: async () => {} };
  const handler = createQueueHandler(
    () => ({
      sqs: sqs as unknown as SQSClient,
      queues,
      queueUrlPrefix: "http://127.0.0.1:4566/0/",
      log: createLogger({}, "error"),
    }),
    {
      schema: z.unknown(),
      handle: async () => {
        throw fault;
      },
    },
  );
  const record = {
    messageId: "1",
    receiptHandle: "1",
    body: "{}",
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: "0",
      SenderId: "",
      ApproximateFirstReceiveTimestamp: "0",
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:eu-central-1:0:embed",
    awsRegion: "eu-central-1",
  };
  const answer = await handler({ Records: [record] }, { getRemainingTimeInMillis: () => 1000 });
  expect(answer.batchItemFailures).toEqual([{ itemIdentifier: "1" }]);
  return sqs.commandCalls(ChangeMessageVisibilityCommand)[0]?.args[0].input.VisibilityTimeout;
}

const passing = new RetryableError("down", { code: "DOWN" });
const throttled = (retryAfterMs: number) => new ThrottledError("slow down", { code: "BUSY", retryAfterMs });

test.each([
  ["doubles with each delivery", passing, [1, 2, 3], [1, 2, 4]],
  ["is a minute at the most", passing, [10], [60]],
  ["is what the other side asked for, where that is longer", throttled(6_500), [1, 4], [7, 8]],
])("the delay %s", async (_name, fault, deliveries, delays) => {
  expect(await Promise.all(deliveries.map((count) => delayAfter(fault, count)))).toEqual(delays);
});
