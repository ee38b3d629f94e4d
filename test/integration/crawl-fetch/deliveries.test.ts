import { randomUUID } from "node:crypto";
import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { pageGraph } from "../../sites/page-graph.ts";
import { html, type Route, startSite } from "../../sites/site.ts";
import { fetchHarness, fetchTask } from "./harness.ts";

const pages = (origin: string, count: number) => Array.from({ length: count }, (_, page) => `${origin}/page/${page}`);
const graph = (count: number) => pageGraph({ pages: count, linksPerPage: 2, pageBytes: 500 });

describe("a delivery", () => {
  it("of a task that another has is dropped the first time, and sent again for later after that", async () => {
    await using site = await startSite(graph(3));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 3) });
    await harness.dependencies.leases.take(task.taskId, randomUUID());
    await harness.deliver(task);
    expect(await harness.aws.receive("fetch-normal")).toEqual([]);
    await harness.deliver(task, { receiveCount: 2 });
    expect(site.requests).toEqual([]);
    const { Attributes } = await queueAttributes(harness.aws, "fetch-normal");
    expect(Attributes?.["ApproximateNumberOfMessagesDelayed"]).toBe("1");
  });

  it("of a completed task is dropped", async () => {
    await using site = await startSite(graph(3));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 3) });
    expect(await harness.fetch(task)).toHaveLength(3);
    const requests = site.requests.length;
    for (const receiveCount of [1, 2]) await harness.deliver(task, { receiveCount });
    expect(await harness.captures()).toEqual([]);
    expect(site.requests).toHaveLength(requests);
  });

  it("twice at the same time captures every URL once", async () => {
    await using site = await startSite(graph(20));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 20) });
    await Promise.all([harness.deliver(task), harness.deliver(task), harness.deliver(task)]);
    expect(await harness.captures()).toHaveLength(20);
    expect(site.paths()).toHaveLength(20);
  });

  it("goes on where the last one ended", async () => {
    await using site = await startSite(graph(20));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 20) });
    const taken = await harness.dependencies.leases.take(task.taskId, randomUUID());
    if (taken.outcome !== "taken") throw new Error("not taken");
    await taken.lease.record([0, 1, 2, 3, 4, 17].flatMap((page) => task.urls[page]?.urlHash ?? []));
    await taken.lease.defer(0);
    const captures = await harness.fetch(task);
    expect(captures.map(({ url }) => url)).toEqual(pages(site.origin, 20).filter((_, page) => page > 4 && page !== 17));
    expect(new Set(captures.map(({ warc }) => warc?.key.includes(`${task.taskId}-2-`)))).toEqual(new Set([true]));
  });

  it("that loses its lease on the way stops", async () => {
    const routes: Record<string, Route> = { ...graph(10), "/page/0": { ...html("slow"), delayMs: 1500 } };
    await using site = await startSite(routes);
    const harness = await fetchHarness({ FETCH__CONCURRENCY_PER_TASK: "1" });
    const task = fetchTask({ urls: pages(site.origin, 10) });
    const running = harness.deliver(task);
    await expect.poll(() => site.paths()).toContain("/page/0");
    const { dynamo, stateTable } = harness.aws;
    await dynamo.send(
      new UpdateCommand({
        TableName: stateTable,
        Key: { pk: `task#${task.taskId}` },
        UpdateExpression: "SET #owner = :other, lease_until = :zero",
        ExpressionAttributeNames: { "#owner": "owner" },
        ExpressionAttributeValues: { ":other": "another", ":zero": 0 },
      }),
    );
    await running;
    // what was under way may be sent; ingest takes a capture twice
    expect(site.paths().length).toBeLessThanOrEqual(10);
    expect((await harness.dependencies.leases.take(task.taskId, "third")).outcome).toBe("taken");
  });

  it("that fails at S3 is thrown, and the next one captures all", async () => {
    await using site = await startSite(graph(3));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 3) });
    const { objects } = harness.dependencies;
    const { put } = objects;
    objects.put = () => Promise.reject(Object.assign(new Error("S3 is away"), { $metadata: {} }));
    await expect(harness.deliver(task, { remainingMs: () => 2000 })).rejects.toThrow("S3 is away");
    objects.put = put;
    await harness.deliver(task, { receiveCount: 2 });
    expect(await harness.captures()).toHaveLength(3);
  });

  it("waits for S3, SQS and DynamoDB rather than ask for its pages again", async () => {
    await using site = await startSite(graph(3));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 3) });
    const { objects, queues } = harness.dependencies;
    const [put, send] = [objects.put, queues.send];
    const away = () => Promise.reject(Object.assign(new Error("It is away"), { $metadata: {} }));
    const attempts = { put: 0, send: 0 };
    objects.put = (...object) => (++attempts.put <= 2 ? away() : put(...object));
    queues.send = (...message) => (++attempts.send === 1 ? away() : send(...message));
    await harness.deliver(task);
    expect(await harness.captures()).toHaveLength(3);
    expect(site.paths().toSorted()).toEqual(["/page/0", "/page/1", "/page/2"]);
    // the WARC, thrice, before the batch that points into it
    expect(attempts).toEqual({ put: 4, send: 2 });
  });

  it("near the end of its time sends what it has and leaves the rest for later", async () => {
    await using site = await startSite(graph(30));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 30), config: { rate_limit_rps: 10 } });
    const started = Date.now();
    await harness.deliver(task, { remainingMs: () => 3000 - (Date.now() - started) });
    const first = await harness.captures();
    expect(first.length).toBeGreaterThan(3);
    expect(first.length).toBeLessThan(25);
    const [again] = await harness.aws.receive("fetch-normal", 5);
    expect(again).toEqual(task);
    const rest = await harness.fetch(task);
    expect(first.length + rest.length).toBe(30);
    expect(new Set([...first, ...rest].map(({ url }) => url)).size).toBe(30);
  });
});

describe("a cancelled job", () => {
  it("makes no request later than two seconds after, and every URL still ends", async () => {
    await using site = await startSite(graph(40));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 40), config: { rate_limit_rps: 5 } });
    const running = harness.deliver(task);
    await expect.poll(() => site.paths().length, { timeout: 10_000 }).toBeGreaterThan(3);
    await harness.dependencies.flags.markCancelled(task.jobId);
    const cancelledAt = Date.now();
    await running;
    const captures = await harness.captures();
    expect(captures).toHaveLength(40);
    const last = Math.max(...site.requests.map(({ at }) => at));
    expect(last - cancelledAt).toBeLessThan(2000);
    const cancelled = captures.filter(({ error }) => error?.code === "CANCELLED");
    expect(cancelled.length).toBe(40 - site.paths().length);
    expect(cancelled.length).toBeGreaterThan(20);
  });

  it("before its task begins makes no request at all", async () => {
    await using site = await startSite(graph(3));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 3) });
    await harness.dependencies.flags.markCancelled(task.jobId);
    const captures = await harness.fetch(task);
    expect(captures.map(({ error }) => error?.code)).toEqual(["CANCELLED", "CANCELLED", "CANCELLED"]);
    expect(site.requests).toEqual([]);
  });
});

describe("a blocked domain", () => {
  it("is not asked for anything", async () => {
    await using site = await startSite(graph(3));
    const harness = await fetchHarness();
    const Item = { pk: `host#${site.host}`, blocked: true };
    await harness.aws.dynamo.send(new PutCommand({ TableName: harness.aws.stateTable, Item }));
    const captures = await harness.fetch(fetchTask({ urls: pages(site.origin, 3) }));
    expect(captures.map(({ error }) => error)).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ code: "DOMAIN_BLOCKED", retryable: false })),
    );
    expect(site.requests).toEqual([]);
  });
});

async function queueAttributes(aws: Awaited<ReturnType<typeof fetchHarness>>["aws"], queue: string) {
  const { GetQueueAttributesCommand } = await import("@aws-sdk/client-sqs");
  return await aws.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: aws.queueUrlPrefix + queue, AttributeNames: ["All"] }),
  );
}
