import { afterAll, beforeAll, it } from "vitest";
import { sharedRuntime } from "../../services/shared-runtime.ts";
import { type LargeSite, startLargeSite } from "../../sites/large-site.ts";
import { html, startSite } from "../../sites/site.ts";
import {
  all,
  json,
  ndjson,
  type ServerEvent,
  type Spider,
  type StreamRecord,
  serverEvents,
  spiderOf,
} from "./spider-setup.ts";

const PAGES = 80;
const LARGE_PAGES = 20;
/** Of each of them; together more than what sockets hold for a reader who pauses. */
const LARGE_BODY = 500_000;

let site: LargeSite;
let spider: Spider;
beforeAll(async () => {
  site = await startLargeSite({ pages: PAGES, slowMs: 700 });
  const links = Array.from({ length: LARGE_PAGES }, (_, index) => `<a href="/large/${index}">${index}</a>`).join("");
  const body = `<!doctype html><title>Large</title><main><p>A page of some size.</p>${links}<!-- ${"x".repeat(LARGE_BODY)} --></main>`;
  site.main.route(
    Object.fromEntries(Array.from({ length: LARGE_PAGES }, (_, index) => [`/large/${index}`, html(body)])),
  );
  spider = spiderOf(await sharedRuntime());
});
afterAll(async () => {
  await site?.close();
});

const graph = () => ({ seed_urls: [`${site.main.origin}/page/0`], max_depth: 50, max_pages: PAGES });
const slow = () => ({ seed_urls: [`${site.slow.origin}/page/0`], max_depth: 50, concurrency: 1 });
const EVENTS = { headers: { accept: "text/event-stream" } };
const urls = (records: readonly StreamRecord[]) =>
  records.flatMap(({ type, data }) => (type === "page" ? [data.url] : []));
const statusOf = async (jobId: string) => (await json(await spider.get(`/api/v1/crawl/${jobId}?limit=1`))).status;
const jobOf = (response: Response) => response.headers.get("x-job-id") ?? "";

/** The first so many, and the stream stays open. */
async function take<T>(items: AsyncIterator<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const { value, done } = await items.next();
    if (done) throw new Error(`the stream ended after ${taken.length}`);
    taken.push(value);
  }
  return taken;
}

it.concurrent("NDJSON: each page once as a line of its own, and the stats last", async ({ expect }) => {
  const response = await spider.crawl("result_mode=stream", graph());
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  const records = await all(ndjson(response));
  expect(new Set(urls(records)).size).toBe(PAGES);
  expect(records).toHaveLength(PAGES + 1);
  expect(Object.keys(records[0] ?? {})).toEqual(["type", "data"]);
  // all fields, unless the client says otherwise
  expect(records[0]?.data).toMatchObject({
    depth: 0,
    content: expect.stringContaining("<!doctype"),
    markdown: expect.any(String),
  });
  expect(records.at(-1)).toEqual({
    type: "stats",
    data: { pages_crawled: PAGES, pages_failed: 0, duration_seconds: expect.any(Number), stop_reason: "completed" },
  });
});

it.concurrent("server-sent events: the cursor is the id, and Last-Event-ID goes on after it", async ({ expect }) => {
  const response = await spider.crawl("result_mode=stream&include=title", graph(), EVENTS);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const events = await all(serverEvents(response));
  const ids = Array.from({ length: PAGES }, (_, index) => String(index + 1));
  expect(events.map(({ id }) => id)).toEqual([...ids, "end"]);
  expect(Object.keys(events[0]?.record.data).toSorted()).toEqual(["depth", "status_code", "title", "url"]);
  const resume = (id: string) =>
    spider.get(`/jobs/${jobOf(response)}/stream`, { headers: { ...EVENTS.headers, "last-event-id": id } });
  const rest = await all(serverEvents(await resume("50")));
  // the selection of the crawl holds for whoever takes it up again
  expect(rest.slice(0, -1)).toEqual(events.slice(50, -1));
  expect(rest.at(-1)?.record.type).toBe("stats");
  const nothing = await resume("end");
  expect(nothing.status).toBe(204);
});

it.concurrent("a stream that was cut is taken up again without a gap and without a repetition", async ({ expect }) => {
  const stored = await json(await spider.crawl("result_mode=store", graph()));
  const seen: ServerEvent[] = [];
  for (let connection = 0; connection < 50 && seen.at(-1)?.record.type !== "stats"; connection += 1) {
    const leave = new AbortController();
    const id = seen.at(-1)?.id;
    const headers = { ...EVENTS.headers, ...(id !== undefined && { "last-event-id": id }) };
    const response = await spider.get(`/jobs/${stored.job_id}/stream?include=url`, { headers, signal: leave.signal });
    let left = 12;
    for await (const event of serverEvents(response)) {
      seen.push(event);
      left -= 1;
      if (left === 0) break;
    }
    leave.abort();
  }
  expect(seen.map(({ id }) => id)).toEqual([...Array.from({ length: PAGES }, (_, index) => String(index + 1)), "end"]);
  expect(new Set(urls(seen.map(({ record }) => record))).size).toBe(PAGES);
  // NDJSON counts: the cursor is the number of pages seen
  const rest = await all(ndjson(await spider.get(`/jobs/${stored.job_id}/stream?cursor=${PAGES - 3}&include=url`)));
  expect(urls(rest)).toEqual(urls(seen.map(({ record }) => record)).slice(-3));
});

it.concurrent("a client that leaves stops its stream's job", async ({ expect }) => {
  const leave = new AbortController();
  const response = await spider.crawl("result_mode=stream&include=url", slow(), { signal: leave.signal });
  await take(ndjson(response), 2);
  leave.abort();
  await expect.poll(() => statusOf(jobOf(response))).toBe("cancelled");
  // its stream ends at once, with what there is
  const records = await all(ndjson(await spider.get(`/jobs/${jobOf(response)}/stream`)));
  expect(records.at(-1)).toMatchObject({ type: "stats", data: { stop_reason: "manual_stop" } });
});

it.concurrent("a client that leaves does not stop a job that is detached, nor one that is stored", async ({
  expect,
}) => {
  const leave = new AbortController();
  const detached = await spider.crawl(
    "result_mode=stream&detach=true&include=url",
    { ...slow(), max_pages: 6 },
    { signal: leave.signal },
  );
  await take(ndjson(detached), 1);
  const stored = await json(await spider.crawl("result_mode=store", { ...slow(), max_pages: 6 }));
  const follower = await spider.get(`/jobs/${stored.job_id}/stream?include=url`, { signal: leave.signal });
  await take(ndjson(follower), 1);
  leave.abort();
  for (const jobId of [jobOf(detached), stored.job_id]) {
    const job = await spider.instance.waitForJob(jobId);
    expect(job.counts["crawled"]).toBe(6);
  }
});

it.concurrent("an idle stream is kept alive in both forms, and stays readable by a strict parser", async ({
  expect,
}) => {
  const answer = html(
    "<!doctype html><html lang=en><title>Late</title><main><p>It took its time, and then it came.</p></main>",
  );
  await using late = await startSite({ "/": { ...answer, delayMs: 17_000 } });
  const body = { seed_urls: [`${late.origin}/`], max_depth: 0 };
  const [lines, events] = await Promise.all([
    spider.crawl("result_mode=stream&include=title", body).then((response) => response.text()),
    spider.crawl("result_mode=stream&include=title", body, EVENTS).then((response) => response.text()),
  ]);
  expect(lines).toMatch(/^ +\{"type":"page"/);
  const records = lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as StreamRecord);
  expect(records.map(({ type }) => type)).toEqual(["page", "stats"]);
  expect(events).toMatch(/^(: ping\n\n)+id: 1\ndata: /);
});

it.concurrent("a job that fails is an error record, and then the stats", async ({ expect }) => {
  const response = await spider.crawl("result_mode=stream&include=fetch_error", {
    seed_urls: [`${site.main.origin}/nowhere`],
  });
  const records = await all(ndjson(response));
  expect(records).toMatchObject([
    { type: "page", data: { status_code: 404 } },
    { type: "error", data: { error_code: "JOB_FAILED", message: expect.stringContaining("HTTP_404") } },
    { type: "stats", data: { pages_crawled: 0, pages_failed: 1, stop_reason: "error" } },
  ]);
});

it.concurrent("seeds that were refused are told of with the stats", async ({ expect }) => {
  const seed_urls = [`${site.main.origin}/page/0`, "http://10.0.0.1/"];
  const records = await all(ndjson(await spider.crawl("result_mode=stream", { seed_urls, max_depth: 0 })));
  expect(records.at(-1)?.data.refused_seeds).toMatchObject([{ path: "seed_urls[1]", code: "URL_BLOCKED" }]);
});

it.concurrent("any job's results can be streamed, in the order of its cursors", async ({ expect }) => {
  const { job_id } = await spider.instance.call<{ job_id: string }>("POST", "/api/v1/crawl", {
    urls: [0, 1, 2].map((page) => `${site.main.origin}/page/${page}`),
    config: { rate_limit_rps: 100 },
  });
  const records = await all(ndjson(await spider.get(`/jobs/${job_id}/stream?include=title`)));
  expect(records.map(({ type }) => type)).toEqual(["page", "page", "page", "stats"]);
});

it.concurrent("a reader who pauses until the crawl has ended loses nothing", async ({ expect }) => {
  const body = { seed_urls: [`${site.main.origin}/large/0`], max_depth: 1 };
  const { job_id } = await json(await spider.crawl("result_mode=store", body));
  const records = ndjson(await spider.get(`/jobs/${job_id}/stream?include=content`));
  const first = await take(records, 1);
  await spider.instance.waitForJob(job_id);
  const read = [...first, ...(await all(records))];
  expect(new Set(urls(read)).size).toBe(LARGE_PAGES);
  expect(read.map(({ type }) => type)).toEqual([...Array(LARGE_PAGES).fill("page"), "stats"]);
  for (const { type, data } of read) if (type === "page") expect(data.content.length).toBeGreaterThan(LARGE_BODY);
});
