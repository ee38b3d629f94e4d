import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GetQueueAttributesCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { type TestRuntime, testRuntime } from "../../../services/index.ts";

interface Taken {
  id: string;
  queue: string;
  batch: number;
  receiveCount: number;
}

async function countOf({ clients }: TestRuntime, queue: string): Promise<{ visible: number; hidden: number }> {
  const { Attributes } = await clients.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: clients.queueUrl(queue), AttributeNames: ["All"] }),
  );
  return {
    visible: Number(Attributes?.["ApproximateNumberOfMessages"]),
    hidden: Number(Attributes?.["ApproximateNumberOfMessagesNotVisible"]),
  };
}

const GONE = { visible: 0, hidden: 0 };

test("a message reaches its function and is deleted", async () => {
  const test = await testRuntime(["consumer"]);
  await test.clients.send("work", { id: "one" });
  await expect.poll(() => test.seen("done")).toEqual([{ id: "one" }]);
  await expect.poll(() => countOf(test, "work")).toEqual(GONE);
});

test("messages that wait together are delivered together, up to the batch size", async () => {
  const test = await testRuntime(["holding"]);
  // the one container is busy until all wait
  await test.clients.send("work", { id: "block", act: "wait" });
  await expect.poll(async () => (await test.seen("taken")).length).toBe(1);
  for (let index = 0; index < 12; index += 1) await test.clients.send("work", { id: String(index) });
  await writeFile(join(test.directory, "go"), "");
  await expect.poll(async () => (await test.seen("done")).length).toBe(13);
  const batches = (await test.seen<Taken>("taken")).map(({ batch }) => batch);
  expect(Math.max(...batches)).toBe(5);
});

test("of a batch only the failed message stays", async () => {
  const test = await testRuntime(["consumer"]);
  await Promise.all([
    test.clients.send("work", { id: "good" }),
    test.clients.send("work", { id: "bad", act: "fail" }),
    test.clients.send("work", { id: "better" }),
  ]);
  await expect.poll(async () => (await test.seen("done")).length).toBe(3);
  await expect.poll(() => countOf(test, "work")).toEqual({ visible: 0, hidden: 1 });
});

test("a message that keeps failing ends in the dead-letter queue", async () => {
  const test = await testRuntime(["consumer"]);
  const { runtime, clients } = test;
  await clients.send("work", { id: "poison", act: "fail" });
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    await expect.poll(async () => (await test.seen<Taken>("taken")).at(-1)?.receiveCount).toBe(attempt);
    await expect.poll(() => runtime.redeliver("work")).toBe(1);
  }
  await expect.poll(() => countOf(test, "work-dlq")).toEqual({ visible: 1, hidden: 0 });
  expect(await countOf(test, "work")).toEqual(GONE);
  expect(await test.seen("taken")).toHaveLength(2);
  const { Messages } = await clients.sqs.send(new ReceiveMessageCommand({ QueueUrl: clients.queueUrl("work-dlq") }));
  expect(Messages?.[0]?.Body).toContain("poison");
});

test.for(["throw", "exit", "hang"] as const)(
  "a batch whose handler ends like this stays, and others go on: %s",
  async (act) => {
    const test = await testRuntime(["consumer"]);
    await test.clients.send("work", { id: "bad", act });
    await expect.poll(async () => (await test.seen("taken")).length).toBe(1);
    await test.clients.send("work", { id: "good" });
    await expect.poll(() => test.seen("done")).toEqual([{ id: "good" }]);
    await expect.poll(() => countOf(test, "work")).toEqual({ visible: 0, hidden: 1 });
  },
);

test("a delayed message comes when its time has come", async () => {
  const test = await testRuntime(["consumer"]);
  const sent = Date.now();
  await test.clients.send("work", { id: "late" }, 1);
  await expect.poll(() => test.seen("done")).toEqual([{ id: "late" }]);
  expect(Date.now() - sent).toBeGreaterThanOrEqual(1_000);
});

test("the first queue goes first, and the last is not forgotten", async () => {
  const { clients, seen, directory } = await testRuntime(["ranked"]);
  // the one container is busy until both queues are full
  await clients.send("first", { id: "block", act: "wait" });
  await expect.poll(async () => (await seen("taken")).length).toBe(1);
  for (let index = 0; index < 30; index += 1) {
    await clients.send("second", { id: `second ${index}` });
    await clients.send("first", { id: `first ${index}` });
  }
  await writeFile(join(directory, "go"), "");
  await expect.poll(async () => (await seen("done")).length).toBe(61);
  const order = (await seen<Taken>("taken")).slice(1, 31).map(({ queue }) => queue);
  expect(order.filter((queue) => queue === "second")).toHaveLength(3);
});

test("events that wait share a container, and hold up none", async () => {
  const { clients, seen, directory } = await testRuntime(["waiting"]);
  for (let index = 0; index < 6; index += 1) await clients.send("second", { id: `waits ${index}`, act: "wait" });
  await expect.poll(async () => (await seen("taken")).length).toBe(6);
  await clients.send("second", { id: "quick" });
  await expect.poll(() => seen("done")).toEqual([{ id: "quick" }]);
  await writeFile(join(directory, "go"), "");
  await expect.poll(async () => (await seen("done")).length).toBe(7);
});

test("a container that is busy takes what is most wanted, and nothing else", async () => {
  const { clients, seen, directory } = await testRuntime(["waiting"]);
  await clients.send("second", { id: "toil", act: "toil" });
  await expect.poll(async () => (await seen("taken")).length).toBe(1);
  await clients.send("second", { id: "later" });
  // longer than several looks at how busy the container is
  await new Promise((resolve) => setTimeout(resolve, 500));
  await clients.send("first", { id: "now" });
  await expect.poll(() => seen("done")).toEqual([{ id: "now" }]);
  await writeFile(join(directory, "go"), "");
  await expect.poll(async () => (await seen("done")).length).toBe(3);
});

test("what falls with another event of its container comes again", async () => {
  const { clients, seen } = await testRuntime(["waiting"]);
  await clients.send("first", { id: "neighbour", act: "wait" });
  await expect.poll(async () => (await seen("taken")).length).toBe(1);
  await clients.send("first", { id: "bad", act: "exit" });
  const timesTaken = async (id: string) => (await seen<Taken>("taken")).filter((taken) => taken.id === id).length;
  await expect.poll(() => timesTaken("neighbour")).toBe(2);
});

test("every message is delivered twice at once where that is asked for", async () => {
  const test = await testRuntime(["consumer"], { deliverTwice: true });
  await test.clients.send("work", { id: "one" });
  await expect.poll(() => test.seen("done")).toEqual([{ id: "one" }, { id: "one" }]);
  expect(await test.seen<Taken>("taken")).toMatchObject([{ receiveCount: 1 }, { receiveCount: 1 }]);
  await expect.poll(() => countOf(test, "work")).toEqual(GONE);
});

test("an idle runtime does nothing", async () => {
  const test = await testRuntime(["consumer", "observer"]);
  await test.clients.send("work", { id: "one" });
  await expect.poll(() => countOf(test, "work")).toEqual(GONE);
  // the share of half a second in which the event loop had anything to do; a loop that spins has 1, whenever one looks
  await expect
    .poll(async () => {
      const before = performance.eventLoopUtilization();
      await new Promise((resolve) => setTimeout(resolve, 500));
      return performance.eventLoopUtilization(before).utilization;
    })
    .toBeLessThan(0.5);
});
