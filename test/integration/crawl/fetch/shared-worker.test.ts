/** One worker with many tasks of slow hosts: what goes wrong with one of them is its own. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { fetchDependencies } from "../../../../functions/fetch/dependencies.ts";
import { handOver } from "../../../../functions/fetch/hand-over.ts";
import type { Capture } from "../../../../shared/capture/capture.ts";
import { capturesMessageSchema, readCaptureBatch } from "../../../../shared/capture/capture-batch.ts";
import { type FetchTask, SHARED_QUEUE } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { taskNoteSchema } from "../../../../shared/crawl/tasks/task-note.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { departuresTo } from "../../../services/departures.ts";
import { testAws } from "../../../services/index.ts";
import { pageGraph } from "../../../sites/page-graph.ts";
import { type Route, type Site, startSite } from "../../../sites/site.ts";
import { fetchTask } from "./harness.ts";

const PAGES = 4;
const graph = pageGraph({ pages: PAGES, linksPerPage: 2, pageBytes: 500 });
const paths = Array.from({ length: PAGES }, (_, page) => `/page/${page}`);

async function setUp() {
  const aws = await testAws();
  const config = loadConfig({ ...aws.env, ACCESS__ALLOW_HOSTS: "127.0.0.1,localhost", LOG_LEVEL: "error" });
  const container = fetchDependencies(
    config,
    aws,
    createLogger({}, "error", () => undefined),
  );
  return {
    aws,
    container,
    handOver: (task: FetchTask) => handOver(task, { remainingMs: () => 300_000 }, container),
    async captures(): Promise<Capture[]> {
      const found: Capture[] = [];
      for (;;) {
        const messages = await aws.receive("captures", 1);
        if (messages.length === 0) return found;
        for (const message of messages) {
          if (taskNoteSchema.safeParse(message).success) continue;
          found.push(...(await readCaptureBatch(container.objects, capturesMessageSchema.parse(message).batchKey)));
        }
      }
    },
  };
}

const taskOf = (site: Site, more: Partial<Parameters<typeof fetchTask>[0]> = {}): FetchTask =>
  fetchTask({ urls: paths.map((path) => site.origin + path), ...more });

/** A body that never ends, one that trickles, a chain of redirects, and none at all. */
const HOSTILE: Record<string, Route> = {
  "/page/0": {
    raw(socket) {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n");
      const chunk = `10000\r\n${"<p>more</p>".padEnd(0x10000, "x")}\r\n`;
      const pour = (): void => {
        if (socket.destroyed) return;
        if (socket.write(chunk)) setImmediate(pour);
        else socket.once("drain", pour);
      };
      socket.on("error", () => undefined);
      pour();
    },
  },
  "/page/1": {
    raw(socket) {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n");
      const timer = setInterval(() => socket.write("x"), 100);
      socket.on("error", () => undefined);
      socket.on("close", () => clearInterval(timer));
    },
  },
  "/page/2": (request) => ({ status: 302, headers: { location: `/page/2?${request.url?.length}` } }),
  "/page/3": { raw: (socket) => void socket.destroy() },
};

it("does ten tasks at once, of which one is hostile, one cancelled, one late, and one fails at the bucket", async () => {
  const { aws, container, handOver: share, captures } = await setUp();
  const sites = await Promise.all(
    Array.from({ length: 10 }, (_, index) => startSite(index === 0 ? { ...graph, ...HOSTILE } : graph)),
  );
  const ofEach = { rate_limit_rps: 5 };
  const tasks = sites.map((site, index) =>
    taskOf(site, {
      config: index === 0 ? { ...ofEach, page_timeout_ms: 2_000, max_page_size_mb: 1 } : ofEach,
      deadline: index === 2 ? Date.now() - 1 : null,
    }),
  );
  const [hostile, cancelled, late, refused, last] = [0, 1, 2, 3, 9].map((index) => tasks[index] as FetchTask);
  await container.flags.markCancelled(cancelled?.jobId ?? "");
  const { put } = container.objects;
  let refusals = 0;
  container.objects.put = async (key, ...rest) => {
    if (key.includes(refused?.jobId ?? "") && ++refusals === 1) throw new Error("S3 refuses it");
    return await put(key, ...rest);
  };
  await aws.queues.sendAll(SHARED_QUEUE, tasks.slice(0, -1));
  await share(last as FetchTask);

  const found = await captures();
  const of = (task: FetchTask | undefined) => found.filter(({ url }) => url.includes(`//${task?.host}/`));
  for (const task of tasks) {
    expect(
      of(task)
        .map(({ urlHash }) => urlHash)
        .toSorted(),
      task.host,
    ).toEqual(task.urls.map(({ urlHash }) => urlHash).toSorted());
  }
  const well = tasks.filter((task) => ![hostile, cancelled, late].includes(task));
  for (const task of well) expect(of(task).map(({ error }) => error)).toEqual(Array(PAGES).fill(null));
  expect(of(cancelled).map(({ error }) => error?.code)).toEqual(Array(PAGES).fill("CANCELLED"));
  expect(of(late).map(({ error }) => error?.code)).toEqual(Array(PAGES).fill("TIMEOUT"));
  for (const { error, truncated } of of(hostile)) expect(error !== null || truncated).toBe(true);
  expect(Math.max(...of(hostile).map(({ payloadBytes }) => payloadBytes))).toBeLessThanOrEqual(1024 * 1024);
  expect(refusals).toBeGreaterThan(1);
  // asked once, but where what was fetched could not be kept
  for (const [index, site] of sites.entries()) {
    if (well.includes(tasks[index] as FetchTask) && index !== 3) expect(site.paths().toSorted()).toEqual(paths);
    if (index === 1 || index === 2) expect(site.paths()).toEqual([]);
  }
  expect(await aws.messagesIn(SHARED_QUEUE)).toBe(0);
  await Promise.all(sites.map((site) => site.close()));
});

it("takes a task that comes later, so that whoever was woken for it need not wait with it", async () => {
  const { handOver: share, captures } = await setUp();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using one = await startSite({ ...graph, "/page/0": { after: first.promise, body: "held" } });
  await using other = await startSite({ ...graph, "/page/0": { after: second.promise, body: "held" } });
  const worker = share(taskOf(one));
  await expect.poll(() => one.paths()).toContain("/page/0");
  await share(taskOf(other));
  second.resolve();
  first.resolve();
  await worker;
  expect(await captures()).toHaveLength(2 * PAGES);
});

it("waits for the slots of a host that another of its tasks has", async () => {
  const { aws, handOver: share, captures } = await setUp();
  const rps = 2;
  await using site = await startSite(pageGraph({ pages: 12, linksPerPage: 2, pageBytes: 500 }));
  const departures = departuresTo(site.origin);
  const [some, others] = [0, 6].map((from) =>
    fetchTask({
      urls: Array.from({ length: 6 }, (_, page) => `${site.origin}/page/${from + page}`),
      config: { rate_limit_rps: rps, respect_robots_txt: false },
    }),
  );
  await aws.queues.send(SHARED_QUEUE, some);
  await share(others as FetchTask);
  expect(new Set((await captures()).map(({ url }) => url)).size).toBe(12);
  expect(departures).toHaveLength(12);
  for (const [index, { at }] of departures.entries()) {
    const before = departures[index - 1];
    if (before !== undefined) expect(at - before.at).toBeGreaterThanOrEqual(1000 / rps - 100);
  }
  expect(await aws.messagesIn("fetch-normal")).toBe(0);
});

it("names the taking of a task, so that nobody takes it for one that was taken before", async () => {
  const { container } = await setUp();
  const taskId = randomUUID();
  expect(await container.leases.takes(taskId)).toBe(0);
  await container.leases.take(taskId, randomUUID());
  expect(await container.leases.takes(taskId)).toBe(1);
});
