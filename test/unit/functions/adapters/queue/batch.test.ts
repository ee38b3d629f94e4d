import { setImmediate as nextTurn } from "node:timers/promises";
import { ChangeMessageVisibilityCommand, SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { createQueueHandler } from "../../../../../functions/adapters/queue/consumer.ts";
import { PermanentError } from "../../../../../shared/platform/errors.ts";
import { createLogger } from "../../../../../shared/platform/observability/log.ts";

const record = (messageId: string, body: string) => ({
  messageId,
  receiptHandle: messageId,
  body,
  attributes: {
    ApproximateReceiveCount: "1",
    SentTimestamp: "0",
    SenderId: "",
    ApproximateFirstReceiveTimestamp: "0",
  },
  messageAttributes: {},
  md5OfBody: "",
  eventSource: "aws:sqs",
  eventSourceARN: "arn:aws:sqs:us-east-1:0:things",
  awsRegion: "us-east-1",
});

function consumer(handle: (thing: string) => Promise<void>) {
  const sqs = new SQSClient({ region: "us-east-1" });
  const mock = mockClient(sqs);
  mock.on(ChangeMessageVisibilityCommand).resolves({});
  const dead: string[] = [];
  const queues = {
    send: async () => {},
    sendAll: async () => {},
    sendRaw: async (_: string, b: string) => void dead.push(b),
  };
  const log = createLogger({}, "error", () => {});
  const handler = createQueueHandler(() => ({ sqs, queues, queueUrlPrefix: "http://127.0.0.1/0/", log }), {
    schema: z.strictObject({ thing: z.string() }),
    handle: async ({ thing }) => await handle(thing),
  });
  return { handler, dead, returned: () => mock.commandCalls(ChangeMessageVisibilityCommand).length };
}

const thing = (name: string) => record(name, JSON.stringify({ thing: name }));

test("a message that fails is back on its queue while others of its batch are still handled", async () => {
  const slow = Promise.withResolvers<void>();
  const { handler, returned } = consumer(async (name) => {
    if (name === "bad") throw new Error("broken");
    await slow.promise;
  });
  const answer = handler({ Records: [thing("slow"), thing("bad")] }, { getRemainingTimeInMillis: () => 1000 });
  await vi.waitFor(() => expect(returned()).toBe(1));
  slow.resolve();
  expect(await answer).toEqual({ batchItemFailures: [{ itemIdentifier: "bad" }] });
});

test("what is no JSON, and what has another shape, goes to the dead letters as it came; the rest of the batch is handled", async () => {
  const handled: string[] = [];
  const { handler, dead } = consumer(async (name) => void handled.push(name));
  const Records = [record("1", "{"), record("2", '{"thing":1}'), thing("good")];
  const answer = await handler({ Records }, { getRemainingTimeInMillis: () => 1000 });
  expect(answer).toEqual({ batchItemFailures: [] });
  expect(dead).toEqual(["{", '{"thing":1}']);
  expect(handled).toEqual(["good"]);
});

test("a message is handled to its end, however little time is left", async () => {
  const { handler } = consumer(async () => {
    const longAfter = performance.now() + 20;
    while (performance.now() < longAfter) await nextTurn();
  });
  const answer = await handler({ Records: [thing("late")] }, { getRemainingTimeInMillis: () => 1 });
  expect(answer).toEqual({ batchItemFailures: [] });
});

const lines: string[] = [];
beforeEach(() => {
  lines.length = 0;
  vi.spyOn(process.stdout, "write").mockImplementation((line) => Boolean(lines.push(String(line))));
});
afterEach(() => {
  vi.restoreAllMocks();
});

test("a batch that cannot be begun fails as a whole, and the log says why", async () => {
  const handler = createQueueHandler(
    () => {
      throw new PermanentError("no queue is named at postgres://me:secret@db/", { code: "CONFIG_INVALID" });
    },
    { schema: z.unknown(), handle: async () => {} },
  );
  const context = { getRemainingTimeInMillis: () => 1000, functionName: "things" };
  await expect(handler({ Records: [thing("a")] }, context)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: "error",
      function: "things",
      error: expect.objectContaining({ code: "CONFIG_INVALID" }),
    }),
  ]);
  expect(lines.join()).not.toContain("secret");
});
