/** The progress of jobs, as those hear of it who listen: over WebSockets and as server-sent events. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GraphSite, startGraphSite } from "../services/graph-site.ts";
import { type Instance, startInstance } from "../services/instance.ts";
import { type Listener, listen, readEvents, statusOf, type ToldEvent } from "../services/listeners.ts";

const PAGES = 60;
const ENDED = ["completed", "failed", "cancelled"];

let site: GraphSite;
beforeAll(async () => {
  site = await startGraphSite(PAGES);
});
afterAll(() => site.close());

const environment = (more: Record<string, string> = {}): Record<string, string> => ({
  EMBEDDER__PROVIDER: "none",
  // while the site holds its answers
  FETCH__HEADERS_TIMEOUT_MS: "200000",
  ACCESS__ALLOW_HOSTS: site.host,
  RATE_LIMIT__API_RPM: "100000",
  ...more,
});

async function crawl(instance: Instance, rps: number): Promise<string> {
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    url: site.url,
    max_depth: 50,
    max_pages: PAGES,
    config: { rate_limit_rps: rps, page_timeout_ms: 200_000 },
  });
  return job_id;
}

const openStream = (instance: Instance, jobId: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${instance.url}/api/v1/crawl/${jobId}/stream`, {
    headers: { authorization: `Bearer ${instance.apiKey}`, ...headers },
  });

/** Progress that never goes back, no event twice in a row, and one last event, which is the last. */
function expectOrder(events: readonly ToldEvent[], last: string): void {
  expect(events.map(({ type }) => type).filter((type) => type !== "progress")).toEqual([last]);
  expect(events.at(-1)?.type).toBe(last);
  const done = events.map(({ data }) => data.counts.crawled + data.counts.failed + data.counts.skipped);
  expect(done).toEqual(done.toSorted((a, b) => a - b));
  const texts = events.map((event) => JSON.stringify(event));
  expect(new Set(texts).size).toBe(texts.length);
}

describe.each([
  ["each message once", {}],
  ["each message twice, at once", { STRANDLINE_DELIVER_TWICE: "1" }],
])("where queues deliver %s", (_name, env) => {
  let instance: Instance;
  beforeAll(async () => {
    instance = await startInstance({ env: environment(env) });
  });
  afterAll(() => instance.stop());

  const follow = (jobId: string): Promise<Listener> => listen(instance.url, jobId, { key: instance.apiKey });

  it("tells 50 sockets and two streams how a crawl goes, and each how it ended, once and last", async () => {
    site.holdAfter(0);
    const jobId = await crawl(instance, 15);
    const sockets = await Promise.all(Array.from({ length: 50 }, () => follow(jobId)));
    const streams = await Promise.all([openStream(instance, jobId), openStream(instance, jobId)]);
    expect(streams.map(({ status, headers }) => [status, headers.get("content-type")])).toEqual(
      Array(2).fill([200, "text/event-stream"]),
    );
    const heard = [0, 0];
    const hear = (stream: Response, at: number) =>
      readEvents(stream, ({ length }) => {
        heard[at] = length;
        return false;
      });
    const reading = Promise.all(streams.map(hear));
    // that it goes on is told while it does
    site.release();
    site.holdAfter(PAGES / 2);
    await expect.poll(() => Math.min(...heard, ...sockets.map(({ events }) => events.length))).toBeGreaterThan(1);
    site.release();
    const read = await reading;
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual(Array(50).fill(1000));
    for (const { events } of sockets) {
      expectOrder(events, "completed");
      expect(events.length).toBeGreaterThan(2);
      expect(events.at(-1)?.data).toMatchObject({
        job_id: jobId,
        status: "completed",
        stop_reason: "completed",
        error: null,
        counts: { discovered: PAGES, open: 0, crawled: PAGES, documents: PAGES },
      });
    }
    for (const events of read) {
      expectOrder(
        events.map(({ event, data }) => ({ type: event, data })),
        "completed",
      );
      expect(events.length).toBeGreaterThan(2);
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    }
  });

  it("tells of a cancelled job that it was cancelled, once and last", async () => {
    const jobId = await crawl(instance, 2);
    const socket = await follow(jobId);
    const stream = readEvents(await openStream(instance, jobId));
    await expect.poll(() => socket.events.length).toBeGreaterThan(0);
    await instance.call("POST", `/api/v1/crawl/${jobId}/cancel`);
    expect(await socket.closed).toBe(1000);
    expectOrder(socket.events, "cancelled");
    const told = (await stream).map(({ event, data }) => ({ type: event, data }));
    expectOrder(told, "cancelled");
    expect(told.at(-1)?.data).toMatchObject({ status: "cancelled", stop_reason: "manual_stop" });
  });

  it("tells whoever comes after the end how it ended, and nothing else", async () => {
    const jobId = await crawl(instance, 1000);
    const job = await instance.waitForJob(jobId);
    expect(ENDED).toContain(job.status);
    const sockets = await Promise.all(Array.from({ length: 5 }, () => follow(jobId)));
    await Promise.all(sockets.map(({ closed }) => closed));
    for (const { events } of sockets) expect(events.map(({ type }) => type)).toEqual(["completed"]);
    const events = await readEvents(await openStream(instance, jobId));
    expect(events.map(({ event }) => event)).toEqual(["completed"]);
    const again = await openStream(instance, jobId, { "last-event-id": events[0]?.id ?? "" });
    expect([again.status, await again.text()]).toEqual([204, ""]);
  });
});

describe("at the door", () => {
  let instance: Instance;
  let jobId: string;
  let open: (options: Parameters<typeof listen>[2]) => Promise<Listener>;
  beforeAll(async () => {
    instance = await startInstance({ env: environment() });
    jobId = await crawl(instance, 1000);
    await instance.waitForJob(jobId);
    open = (options) => listen(instance.url, jobId, options);
  });
  afterAll(() => instance.stop());

  it("refuses whoever brings no valid key, and takes none from the URL", async () => {
    const made = await instance.call<{ id: string; key: string }>("POST", "/api/v1/api-keys", {
      name: "to be revoked",
      scopes: ["read"],
    });
    const { socket } = await open({ key: made.key });
    socket.terminate();
    await instance.call("DELETE", `/api/v1/api-keys/${made.id}`);
    const path = `/api/v1/ws/crawl/${jobId}?api_key=${instance.apiKey}`;
    for (const options of [{}, { key: "sl_wrong" }, { key: made.key }, { path }]) {
      expect(await statusOf(open(options))).toBe(401);
    }
  });

  it("refuses whoever asks for no job that there is", async () => {
    const key = instance.apiKey;
    const status = (path: string) => statusOf(open({ key, path }));
    expect(await status("/")).toBe(400);
    expect(await status("/?job_id=42")).toBe(404);
    expect(await status(`/api/v1/ws/crawl/${crypto.randomUUID()}`)).toBe(404);
    expect(await status("/elsewhere")).toBe(404);
    const unknown = await openStream(instance, crypto.randomUUID());
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { code: "NOT_FOUND" }]);
    expect((await fetch(`${instance.url}/api/v1/crawl/${jobId}/stream`)).status).toBe(401);
  });

  it("takes the key of a browser from the subprotocols, and repeats only the name of its own", async () => {
    const { socket, closed, events } = await open({ protocols: [`strandline.key.${instance.apiKey}`, "strandline"] });
    expect(socket.protocol).toBe("strandline");
    expect(await closed).toBe(1000);
    expect(events.map(({ type }) => type)).toEqual(["completed"]);
    expect(await statusOf(open({ protocols: ["strandline.key.wrong", "strandline"] }))).toBe(401);
  });

  it("also takes the job from the query, as it must on AWS", async () => {
    const { closed, events } = await open({ key: instance.apiKey, path: `/?job_id=${jobId}` });
    await closed;
    expect(events.map(({ type, data }) => [type, data.job_id])).toEqual([["completed", jobId]]);
  });

  it("answers pings, and no other message", async () => {
    const running = await crawl(instance, 2);
    const { socket, events } = await listen(instance.url, running, { key: instance.apiKey });
    for (const message of ["nonsense", '{"type":"other"}', "[", "ping", '{"type":"ping"}']) socket.send(message);
    const pongs = () => events.filter(({ type }) => type === "pong").length;
    await expect.poll(pongs).toBe(2);
    expect(events.filter(({ type }) => type !== "pong" && type !== "progress")).toEqual([]);
    await instance.call("POST", `/api/v1/crawl/${running}/cancel`);
  });

  it("goes on with a job whose listeners leave", async () => {
    const running = await crawl(instance, 40);
    const { socket, events } = await listen(instance.url, running, { key: instance.apiKey });
    const stream = await openStream(instance, running);
    await readEvents(stream, (read) => read.length > 0);
    await expect.poll(() => events.length).toBeGreaterThan(0);
    socket.terminate();
    const job = await instance.waitForJob(running);
    expect(job.counts).toMatchObject({ crawled: PAGES });
  });
});

it("starts after a kill with listeners and messages that the one before left, and tells those who come again", async () => {
  const home = await mkdtemp(join(tmpdir(), "strandline progress "));
  const first = await startInstance({ home, env: environment() });
  const jobId = await crawl(first, 4);
  const before = await Promise.all(Array.from({ length: 10 }, () => listen(first.url, jobId, { key: first.apiKey })));
  await expect.poll(() => before.every(({ events }) => events.length > 1)).toBe(true);
  await first.kill();
  const second = await startInstance({ home, port: first.port, env: environment() });
  try {
    const { events, closed } = await listen(second.url, jobId, { key: second.apiKey });
    await closed;
    expectOrder(events, "completed");
    await second.waitForJob(jobId);
  } finally {
    await second.stop();
    await rm(home, { recursive: true, force: true });
  }
});
