/** What those who listen to a crawl hear, whichever way the queues of the runtime deliver. */
import { expect, it } from "vitest";
import type { GraphSite } from "../services/graph-site.ts";
import type { RunningInstance } from "../services/instance.ts";
import { type Listener, listen, readEvents, type ToldEvent } from "../services/listeners.ts";

/** Of the site; the answers may be held, so FETCH__HEADERS_TIMEOUT_MS must be long. */
export const PAGES = 60;
const ENDED = ["completed", "failed", "cancelled"];

export async function startCrawl(instance: RunningInstance, site: GraphSite, rps: number): Promise<string> {
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    url: site.url,
    max_depth: 50,
    max_pages: PAGES,
    config: { rate_limit_rps: rps, page_timeout_ms: 200_000 },
  });
  return job_id;
}

export const openStream = (
  instance: RunningInstance,
  jobId: string,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${instance.url}/api/v1/crawl/${jobId}/stream`, {
    headers: { authorization: `Bearer ${instance.apiKey}`, ...headers },
  });

/** Progress that never goes back, no event twice in a row, and one last event, which is the last. */
export function expectOrder(events: readonly ToldEvent[], last: string): void {
  expect(events.map(({ type }) => type).filter((type) => type !== "progress")).toEqual([last]);
  expect(events.at(-1)?.type).toBe(last);
  const done = events.map(({ data }) => data.counts.crawled + data.counts.failed + data.counts.skipped);
  expect(done).toEqual(done.toSorted((a, b) => a - b));
  const texts = events.map((event) => JSON.stringify(event));
  expect(new Set(texts).size).toBe(texts.length);
}

/** @param given the site of `PAGES` pages, and the runtime that crawls it; called when a test runs */
export function listenersAreTold(given: () => { instance: RunningInstance; site: GraphSite }): void {
  const follow = (jobId: string): Promise<Listener> => {
    const { instance } = given();
    return listen(instance.url, jobId, { key: instance.apiKey });
  };

  it("tells 50 sockets and two streams how a crawl goes, and each how it ended, once and last", async () => {
    const { instance, site } = given();
    site.holdAfter(0);
    const jobId = await startCrawl(instance, site, 40);
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
    const { instance, site } = given();
    const jobId = await startCrawl(instance, site, 2);
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
    const { instance, site } = given();
    const jobId = await startCrawl(instance, site, 1000);
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
}
