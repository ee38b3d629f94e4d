/** Clients that leave, measured at the server crawled for them: their crawls end, and those meant to go on do. */
import { afterAll, beforeAll, it } from "vitest";
import { sharedRuntime } from "../../services/shared-runtime.ts";
import { html, type Site, startSite } from "../../sites/site.ts";
import { type Engine, engineOf, expectBooksToBalance } from "./engine.ts";

const PAGES = 300;
/** Less than the 15 s after which a stream is written to anyway, and who left is missed. */
const NOTICED_WITHIN_MS = 10_000;
/** A cancelled job asks nothing for more than 2 s; and it is marked a moment after its row says so. */
const QUIET_AFTER_MS = 2_500;

let engine: Engine;
beforeAll(async () => {
  engine = engineOf(await sharedRuntime());
});
afterAll(() => engine?.close());

/** Every page leads to all others. */
const slowSite = (): Promise<Site> => {
  const links = Array.from({ length: PAGES }, (_, page) => `<a href="/${page}">${page}</a>`).join(" ");
  const text = `<!doctype html><html lang="en"><title>Page</title><main><p>A page about lighthouses.</p>${links}</main></html>`;
  return startSite({ "/robots.txt": { status: 404 } }, () => ({ ...html(text), delayMs: 300 }));
};
const urls = (site: Site) => Array.from({ length: 100 }, (_, page) => `${site.origin}/${page}`);
const crawl = (site: Site) => ({
  seed_urls: [`${site.origin}/0`],
  max_pages: PAGES,
  config: { rate_limit_rps: 20 },
  concurrency: 2,
});

const EVENTS = { accept: "text/event-stream" };

it.concurrent.for<[string, string, (site: Site) => object, Record<string, string>]>([
  ["a stream of lines", "/spider/crawl?result_mode=stream", crawl, {}],
  ["a stream of events", "/spider/crawl?result_mode=stream", crawl, EVENTS],
  ["the pages of a crawl", "/spider/crawl?result_mode=pages", crawl, {}],
  ["the texts of many URLs", "/extract/batch", (site) => ({ urls: urls(site), concurrency: 2 }), {}],
  [
    "the texts of a crawl",
    "/spider/extract",
    (site) => ({ seeds: [`${site.origin}/0`], scope: { max_pages: PAGES } }),
    {},
  ],
])(
  "whoever leaves while waiting for %s ends the crawl: its site is soon left in peace",
  async ([_, path, body, headers], { expect }) => {
    await using site = await slowSite();
    const leave = new AbortController();
    const answer = engine
      .send("POST", path, body(site), { headers, signal: leave.signal })
      .then((response) => response.text())
      .catch((error: unknown) => error);
    await expect.poll(() => site.requests.length).toBeGreaterThan(4);
    leave.abort();
    const leftAt = Date.now();
    expect(await answer).toMatchObject({ name: "AbortError" });
    const jobs = () =>
      engine.sql<{ id: string; status: string; cancelled: boolean }[]>`
        select id, status, cancel_requested as cancelled from jobs where settings->'seeds'->>0 = ${`${site.origin}/0`}`;
    const ids = (await jobs()).map(({ id }) => id);
    expect(ids).toHaveLength(1);
    await expect.poll(async () => (await jobs())[0]?.cancelled).toBe(true);
    const cancelledAt = Date.now();
    expect(cancelledAt - leftAt).toBeLessThan(NOTICED_WITHIN_MS);
    await expect.poll(async () => (await jobs())[0]?.status).toBe("cancelled");
    await expect.poll(() => Date.now() - cancelledAt).toBeGreaterThan(QUIET_AFTER_MS + 1_500);
    expect(site.requests.map(({ since }) => since - cancelledAt).filter((ms) => ms > QUIET_AFTER_MS)).toEqual([]);
    expect(site.requests.length).toBeLessThan(PAGES);
    await expectBooksToBalance(engine, ids[0] ?? "");
  },
);

it.concurrent("a job that is detached, or stored, goes on without listeners to its end", async ({ expect }) => {
  await using site = await slowSite();
  const leave = new AbortController();
  const body = { ...crawl(site), max_pages: 12 };
  const detached = await engine.send("POST", "/spider/crawl?result_mode=stream&detach=true", body, {
    signal: leave.signal,
  });
  const stored = await engine.store(body);
  const follower = await engine.send("GET", `/jobs/${stored}/stream`, undefined, { signal: leave.signal });
  const readers = [detached, follower].map((response) => response.body?.getReader().read());
  await Promise.all(readers);
  leave.abort();
  for (const job of [detached.headers.get("x-job-id") ?? "", stored]) {
    expect((await engine.instance.waitForJob(job)).counts).toMatchObject({ crawled: 12 });
  }
});
