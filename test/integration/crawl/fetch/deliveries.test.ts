import { randomUUID } from "node:crypto";
import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { capturesMessageSchema, readCaptureBatch } from "../../../../shared/capture/capture-batch.ts";
import { createCaptureWriter } from "../../../../shared/crawl/fetch/capture-writer.ts";
import { departuresTo } from "../../../services/departures.ts";
import { pageGraph } from "../../../sites/page-graph.ts";
import { type Route, startSite } from "../../../sites/site.ts";
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
    expect(harness.aws.queues.delayed("fetch-normal")).toBe(1);
  });

  it("of a task that waits for later waits with it: no clock says that another message comes", async () => {
    await using site = await startSite(graph(3));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 3) });
    const taken = await harness.dependencies.leases.take(task.taskId, randomUUID());
    if (taken.outcome !== "taken") throw new Error("not taken");
    // by a clock that was far ahead, and is put right
    const deferrals = (await taken.lease.defer(20 * 60_000)) ?? null;
    await harness.deliver({ ...task, deferrals });
    expect(site.requests).toEqual([]);
    expect(harness.aws.queues.delayed("fetch-normal")).toBe(1);
    // nobody knows whether the sweep's is the only one
    await harness.deliver({ ...task, deferrals: null });
    expect(harness.aws.queues.delayed("fetch-normal")).toBe(2);
  });

  it("of a task that was deferred since it was sent is dropped: the deferral has sent another", async () => {
    await using site = await startSite(graph(3));
    const harness = await fetchHarness();
    await harness.dependencies.hosts.hold(site.host, Date.now() + 60_000);
    const task = fetchTask({ urls: pages(site.origin, 3) });
    await harness.deliver(task);
    await harness.deliver(task);
    expect(harness.aws.queues.delayed("fetch-normal")).toBe(1);
    await harness.deliver({ ...task, deferrals: 1 });
    expect(harness.aws.queues.delayed("fetch-normal")).toBe(2);
    // the copy of a delivery that failed may be all there is
    await harness.deliver(task, { receiveCount: 2 });
    expect(harness.aws.queues.delayed("fetch-normal")).toBe(3);
    expect(site.requests).toEqual([]);
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

  it("sends its captures in batches that stay small, whether text or links make them large", async () => {
    await using site = await startSite(graph(1));
    const harness = await fetchHarness();
    const { objects, queues, leases, clock, held } = harness.dependencies;
    const task = fetchTask({ urls: pages(site.origin, 1) });
    const [capture] = await harness.fetch(task);
    if (!capture?.extraction) throw new Error("not extracted");
    const taken = await leases.take(randomUUID(), randomUUID());
    if (taken.outcome !== "taken") throw new Error("not taken");
    const deadline = clock.now() + 60_000;
    const [onDelivered, onTrouble, isListened] = [() => {}, () => {}, () => false];
    const options = {
      task,
      lease: taken.lease,
      held,
      objects,
      queues,
      warcinfo: {},
      clock,
      deadline,
      onDelivered,
      onTrouble,
      isListened,
    };
    const writer = createCaptureWriter(options);
    const links = Array.from({ length: 500 }, (_, n) => `${site.origin}/${"x".repeat(1960)}${n}`);
    for (let added = 0; added < 10; added++) {
      await writer.add({ ...capture, extraction: { ...capture.extraction, links } }, [], null);
    }
    await writer.flush();
    writer.close();
    const batches = (await harness.aws.receive("captures")).map((message) => capturesMessageSchema.parse(message));
    const read = await Promise.all(batches.map(({ batchKey }) => readCaptureBatch(objects, batchKey)));
    expect(read.map((captures) => captures.length).toSorted((a, b) => a - b)).toEqual([5, 5]);
  });

  it("holds captures back for more of them, but not while somebody looks, nor before its job is to end", async () => {
    await using site = await startSite(graph(4));
    const batchesOf = async (deadline: number | null, isListened: boolean): Promise<number> => {
      const harness = await fetchHarness();
      const task = fetchTask({ urls: pages(site.origin, 4), config: { rate_limit_rps: 1 }, deadline });
      if (isListened) await harness.dependencies.flags.markListened(task.jobId);
      await harness.deliver(task);
      return (await harness.aws.receive("captures")).length;
    };
    expect(await batchesOf(null, false)).toBe(1);
    expect(await batchesOf(null, true)).toBeGreaterThan(1);
    expect(await batchesOf(Date.now() + 19_000, false)).toBeGreaterThan(1);
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
    const lost = Promise.withResolvers<void>();
    const routes: Record<string, Route> = {
      ...graph(10),
      "/page/0": {
        async raw(socket) {
          await lost.promise;
          socket.end(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\nConnection: close\r\n\r\nslow",
          );
        },
      },
    };
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
    lost.resolve();
    await running;
    // what was under way may be sent; ingest takes a capture twice
    expect(site.paths().length).toBeLessThanOrEqual(10);
    expect((await harness.dependencies.leases.take(task.taskId, "third")).outcome).toBe("taken");
  });

  it("that fails at S3 is thrown, and the next one captures all", async () => {
    await using site = await startSite(graph(3));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 3) });
    const { clock, objects } = harness.dependencies;
    const { put } = objects;
    let passed = 0;
    harness.dependencies.clock = { ...clock, now: () => clock.now() + passed };
    objects.put = () => {
      // and with that the time of the delivery is over
      passed = 300_000;
      return Promise.reject(Object.assign(new Error("S3 is away"), { $metadata: {} }));
    };
    await expect(harness.deliver(task)).rejects.toThrow("S3 is away");
    objects.put = put;
    harness.dependencies.clock = clock;
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
    // a machine that is slow needs more time to begin at all, and more pages to be left with some
    for (let timeMs = 3000; ; timeMs *= 2) {
      const count = timeMs / 100;
      await using site = await startSite(graph(count));
      const harness = await fetchHarness();
      const task = fetchTask({ urls: pages(site.origin, count), config: { rate_limit_rps: 10 } });
      const started = Date.now();
      await harness.deliver(task, { remainingMs: () => timeMs - (Date.now() - started) });
      const first = await harness.captures();
      if (first.length <= 3 && timeMs < 50_000) continue;
      expect(first.length).toBeGreaterThan(3);
      expect(first.length).toBeLessThan((count * 5) / 6);
      const [again] = await harness.aws.receive("fetch-normal", 20);
      expect(again).toEqual({ ...task, deferrals: 1 });
      const rest = await harness.fetch(task);
      expect(first.length + rest.length).toBe(count);
      expect(new Set([...first, ...rest].map(({ url }) => url)).size).toBe(count);
      return;
    }
  });
});

describe("a cancelled job", () => {
  it("makes no request later than two seconds after, and every URL still ends", async () => {
    const cancelOne = async (): Promise<number> => {
      await using site = await startSite(graph(40));
      const departures = departuresTo(site.origin);
      const harness = await fetchHarness();
      const { flags } = harness.dependencies;
      const { read } = flags;
      let seenAt = Number.POSITIVE_INFINITY;
      flags.read = async (jobId) => {
        const seen = await read(jobId);
        if (seen.cancelled) seenAt = Math.min(seenAt, Date.now());
        return seen;
      };
      const task = fetchTask({ urls: pages(site.origin, 40), config: { rate_limit_rps: 5 } });
      const running = harness.deliver(task);
      await expect.poll(() => site.paths().length).toBeGreaterThan(3);
      const cancelledAt = Date.now();
      await flags.markCancelled(task.jobId);
      await running;
      const captures = await harness.captures();
      expect(captures).toHaveLength(40);
      const cancelled = captures.filter(({ error }) => error?.code === "CANCELLED");
      expect(cancelled).toHaveLength(40 - site.paths().length);
      // what was on its way when the worker heard of it may still leave
      expect(departures.filter(({ at }) => at > seenAt).length).toBeLessThanOrEqual(1);
      return Math.max(...departures.map(({ at }) => at)) - cancelledAt;
    };
    // where the machine stalls meanwhile, another time shows it
    await expect.poll(cancelOne).toBeLessThan(2000);
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
