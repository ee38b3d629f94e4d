import { SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import postgres from "postgres";
import { expect, test } from "vitest";
import { z } from "zod";
import { createQueueHandler } from "../../../../../functions/adapters/queue/consumer.ts";
import type { QueueSender } from "../../../../../shared/platform/aws/queues.ts";
import { createLogger } from "../../../../../shared/platform/observability/log.ts";

/** How a message fares whose handler throws `error` at its nth delivery. */
async function deliver(error: unknown, receiveCount: number, queue = "captures"): Promise<"again" | "dead" | "lost"> {
  const sqs = new SQSClient({ region: "us-east-1" });
  mockClient(sqs);
  const dead: string[] = [];
  const queues: QueueSender = {
    send: async () => {},
    sendAll: async () => {},
    sendRaw: async (name) => void dead.push(name),
  };
  const handler = createQueueHandler(
    () => ({ sqs, queues, queueUrlPrefix: "http://127.0.0.1/0/", log: createLogger({}, "error", () => {}) }),
    {
      schema: z.unknown(),
      handle: async () => {
        throw error;
      },
    },
  );
  const record = {
    messageId: "m",
    receiptHandle: "r",
    body: "{}",
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: "0",
      SenderId: "local",
      ApproximateFirstReceiveTimestamp: "0",
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${queue}`,
    awsRegion: "us-east-1",
  };
  const { batchItemFailures } = await handler({ Records: [record] }, { getRemainingTimeInMillis: () => 1000 });
  if (batchItemFailures.length > 0) return "again";
  return dead.length > 0 ? "dead" : "lost";
}

const withCode = (code: string) => Object.assign(new Error(code), { code });

test.each([
  ["a database that refuses connections", withCode("ECONNREFUSED")],
  ["a connection that was cut in a transaction", withCode("CONNECTION_CLOSED")],
  ["a database that starts", withCode("57P03")],
  ["a database without a free connection", withCode("53300")],
  ["a bucket that asks to slow down", Object.assign(new Error("SlowDown"), { $metadata: { attempts: 3 } })],
])("%s is no fault of the message: it stays on its queue for as long as the queue allows", async (_, error) => {
  for (const receiveCount of [1, 5, 11]) expect(await deliver(error, receiveCount)).toBe("again");
});

test("a message that fails by itself is tried five times", async () => {
  const fault = new TypeError("undefined is not a function");
  expect(await deliver(fault, 4)).toBe("again");
  expect(await deliver(fault, 5)).toBe("dead");
  expect(await deliver(new postgres.PostgresError("23505"), 5)).toBe("dead");
});

test("a dead letter that cannot be buried stays on its queue", async () => {
  expect(await deliver(new TypeError("undefined is not a function"), 9, "captures-dlq")).toBe("again");
});
