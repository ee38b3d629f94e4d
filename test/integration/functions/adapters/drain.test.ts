import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { createQueueHandler } from "../../../../functions/adapters/queue/consumer.ts";
import { alsoDraining } from "../../../../functions/adapters/queue/drain.ts";
import { createQueueSender } from "../../../../shared/platform/aws/queues.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { type TestAws, testAws } from "../../../services/index.ts";

let aws: TestAws;
beforeAll(async () => {
  aws = await testAws();
});
afterAll(() => aws.close());

const QUEUES = ["captures-dlq", "imports-dlq"];

function setUp(fails: (body: string) => boolean) {
  const seen: { queue: string; body: string; receiveCount: number; attributes: object }[] = [];
  const { queueUrlPrefix } = aws;
  const queues = createQueueSender(aws.sqs, queueUrlPrefix);
  const dependencies = () => ({ sqs: aws.sqs, queues, queueUrlPrefix, log: createLogger({}, "error") });
  const consume = createQueueHandler(dependencies, {
    schema: z.string(),
    body: "text",
    handle: async (body, { queue, receiveCount, attributes }) => {
      seen.push({ queue, body, receiveCount, attributes });
      if (fails(body)) throw new Error("not now");
    },
  });
  const handler = alsoDraining(dependencies, consume);
  const drain = (remainingMs = 60_000) =>
    handler({ drain: QUEUES }, { getRemainingTimeInMillis: () => remainingMs, functionName: "dead-letter" });
  return { seen, queues, drain };
}

/** Of both queues together, hidden ones too. */
async function left(): Promise<number> {
  const counts = await Promise.all(
    QUEUES.map(async (queue) => {
      const { Attributes } = await aws.sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: aws.queueUrlPrefix + queue, AttributeNames: ["All"] }),
      );
      const { ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible } = Attributes ?? {};
      return Number(ApproximateNumberOfMessages) + Number(ApproximateNumberOfMessagesNotVisible);
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

it("finds nothing in empty queues, and says so in order", async () => {
  const { seen, drain } = setUp(() => false);
  expect(await drain()).toEqual({ batchItemFailures: [] });
  expect(seen).toEqual([]);
});

it("hands every message of each queue over once, as a trigger does, and removes it", async () => {
  const { seen, queues, drain } = setUp(() => false);
  for (let n = 0; n < 23; n++) await queues.sendRaw("captures-dlq", `capture ${n}`);
  await queues.sendRaw("imports-dlq", "{not json", { PERMANENT: "WRONG" });
  await drain();
  expect(seen).toHaveLength(24);
  expect(new Set(seen.map(({ body }) => body)).size).toBe(24);
  expect(seen.find(({ queue }) => queue === "imports-dlq")).toEqual({
    queue: "imports-dlq",
    body: "{not json",
    receiveCount: 1,
    attributes: { PERMANENT: "WRONG" },
  });
  expect(await left()).toBe(0);
});

it("fails where a message could not be handled, which stays, and removes the others", async () => {
  const { queues, drain } = setUp((body) => body === "bad");
  for (const body of ["good", "bad", "fine"]) await queues.sendRaw("captures-dlq", body);
  await expect(drain()).rejects.toThrow(/of \d+ messages could not be handled, and stay/);
  expect(await left()).toBe(1);
});

it("begins nothing for which there may be no time", async () => {
  const { seen, queues, drain } = setUp(() => false);
  await queues.sendRaw("imports-dlq", "later");
  await drain(20_000);
  expect(seen).toEqual([]);
});
