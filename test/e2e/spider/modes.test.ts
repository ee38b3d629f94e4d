import { afterAll, beforeAll, expect, it } from "vitest";
import { sharedRuntime } from "../../services/shared-runtime.ts";
import { slowness } from "../../services/slowness.ts";
import { type LargeSite, startLargeSite } from "../../sites/large-site.ts";
import { html } from "../../sites/site.ts";
import { json, type Spider, spiderOf } from "./spider-setup.ts";

const PAGES = 300;
/** Of a page that holds little but this. */
const LARGE_BODY = 500_000;

let site: LargeSite;
let spider: Spider;
beforeAll(async () => {
  site = await startLargeSite({ pages: PAGES, slowMs: 1_500 });
  const large = Array.from({ length: 20 }, (_, index) => `<a href="/large/${index}">${index}</a>`).join("");
  const body = `<!doctype html><title>Large</title><main><p>A page of some size.</p>${large}<!-- ${"x".repeat(LARGE_BODY)} --></main>`;
  site.main.route(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`/large/${index}`, html(body)])));
  spider = spiderOf(await sharedRuntime());
});
afterAll(async () => {
  await site?.close();
});

const graph = () => ({ seed_urls: [`${site.main.origin}/page/0`], max_depth: 50, timeout_seconds: 240 });
const requestsOf = (path: RegExp) => site.main.paths().filter((each) => path.test(each)).length;

it("stats: counts, time, stop reason and domains, once the crawl has ended", async () => {
  const response = await spider.crawl("", { ...graph(), max_pages: 40 });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-job-id")).toMatch(/^[0-9a-f-]{36}$/);
  expect(await json(response)).toEqual({
    pages_crawled: 40,
    pages_failed: 0,
    duration_seconds: expect.any(Number),
    stop_reason: "max_pages",
    domains: ["127.0.0.1"],
  });
  expect(requestsOf(/^\/page\//)).toBe(40);
});

it("urls: the URLs that were discovered, those that were not fetched included", async () => {
  const response = await spider.crawl("result_mode=urls", { ...graph(), max_depth: 1 });
  const { discovered_urls, ...stats } = await json(response);
  expect(stats).toMatchObject({ pages_crawled: 11, stop_reason: "max_depth" });
  const paths = Array.from({ length: 11 }, (_, index) => `${site.main.origin}/page/${index}`);
  expect(discovered_urls.toSorted()).toEqual(paths.toSorted());
});

it("pages: light where nothing is selected, and pages that failed are among them", async () => {
  const seed_urls = [`${site.main.origin}/page/0`, `${site.main.origin}/nowhere`];
  const response = await spider.crawl("result_mode=pages", { seed_urls, max_depth: 0 });
  expect(response.headers.get("content-type")).toBe("application/json");
  const { pages, ...stats } = await json(response);
  expect(stats).toEqual({
    pages_crawled: 1,
    pages_failed: 1,
    duration_seconds: expect.any(Number),
    stop_reason: "max_depth",
    domains: ["127.0.0.1"],
    api_version: "1.0",
  });
  const [page, missing] = pages.toSorted(
    (a: { status_code: number }, b: { status_code: number }) => a.status_code - b.status_code,
  );
  expect(page).toMatchObject({ url: seed_urls[0], depth: 0, status_code: 200, title: "Page 0", robots_obeyed: true });
  expect(page.links).toHaveLength(10);
  expect(page).not.toHaveProperty("content");
  expect(page).not.toHaveProperty("markdown");
  expect(missing).toMatchObject({
    url: seed_urls[1],
    status_code: 404,
    fetch_error: expect.stringContaining("HTTP_404"),
  });
});

it.each([
  ["include=title", ["url", "depth", "status_code", "title"]],
  ["include=title,markdown&exclude=markdown", ["url", "depth", "status_code", "title", "markdown"]],
  [
    "exclude=url,links,content,markdown,fetch_time_ms,robots_obeyed,disallowed,truncated,crawled_at",
    ["url", "depth", "status_code", "title", "mime", "charset"],
  ],
])("pages: exactly the selected fields and the core ones: %s", async (selection, fields) => {
  const body = { ...graph(), max_depth: 0 };
  const { pages } = await json(await spider.crawl(`result_mode=pages&${selection}`, body));
  expect(Object.keys(pages[0]).toSorted()).toEqual(fields.toSorted());
});

it("pages: refuses what is over the limit, and says what to do; nothing is lost", async () => {
  const response = await spider.crawl("result_mode=pages&max_pages=5", { ...graph(), max_pages: 12 });
  expect(response.status).toBe(400);
  const answer = await json(response);
  expect(answer).toMatchObject({
    error: "ResultTooLarge",
    error_code: "RESULT_TOO_LARGE",
    message: "Crawl result (12 pages) exceeds maximum response size (5)",
    details: { page_count: 12, limit: 5, suggestions: expect.arrayContaining([expect.stringContaining("stream")]) },
  });
  const results = await json(await spider.get(`/jobs/${answer.details.job_id}/results`));
  expect(results).toMatchObject({ total_pages: 12, has_more: false });
});

it("pages: an answer may be larger than the 6 MB of a function's own", async () => {
  const body = { seed_urls: [`${site.main.origin}/large/0`], max_depth: 1 };
  const response = await spider.crawl("result_mode=pages&include=content", body);
  const text = await response.text();
  expect(text.length).toBeGreaterThan(20 * LARGE_BODY);
  expect(JSON.parse(text).pages.map(({ content }: { content: string }) => content.length >= LARGE_BODY)).toEqual(
    Array(20).fill(true),
  );
});

it("store: a job whose results come with the fields that were asked for", async () => {
  const response = await spider.crawl("result_mode=store&include=title", { ...graph(), max_pages: 15 });
  expect(response.status).toBe(202);
  const { job_id } = await json(response);
  await spider.instance.waitForJob(job_id);
  const { pages, total_pages } = await json(await spider.get(`/jobs/${job_id}/results`));
  expect(total_pages).toBe(15);
  expect(Object.keys(pages[0]).toSorted()).toEqual(["depth", "status_code", "title", "url"]);
  const other = await json(await spider.get(`/jobs/${job_id}/results?include=links`));
  expect(Object.keys(other.pages[0])).toContain("links");
});

it("a crawl whose time is up answers with what it has", async () => {
  const started = performance.now();
  const body = { seed_urls: [`${site.slow.origin}/page/0`], max_depth: 50, timeout_seconds: 8, concurrency: 1 };
  const response = await spider.crawl("result_mode=pages", body);
  const answer = await json(response);
  // all of its pages would take 30 s
  expect(performance.now() - started).toBeLessThan(25_000 * slowness());
  expect(answer.stop_reason).toBe("timeout");
  expect(answer.pages).toHaveLength(answer.pages_crawled);
  expect(answer.pages_crawled).toBeGreaterThan(0);
  expect(answer.pages_crawled).toBeLessThan(20);
});

it("a client that leaves while it waits for its answer stops the crawl", async () => {
  const leave = new AbortController();
  const body = { seed_urls: [`${site.slow.origin}/page/0`], max_depth: 50, concurrency: 1 };
  const before = site.slow.requests.length;
  const answer = spider.crawl("", body, { signal: leave.signal });
  await expect.poll(() => site.slow.requests.length).toBeGreaterThan(before + 1);
  leave.abort();
  await expect(answer).rejects.toThrow();
  const { items } = await spider.instance.call<{ items: { job_id: string; settings: { seeds: string[] } }[] }>(
    "GET",
    "/api/v1/jobs?limit=100",
  );
  const newest = items.find(({ settings }) => settings.seeds[0] === body.seed_urls[0]);
  const status = async () => (await json(await spider.get(`/api/v1/crawl/${newest?.job_id}`))).status;
  await expect.poll(status).toBe("cancelled");
});

it("keeps to the patterns, the depth and the strategy that it is given", async () => {
  const body = {
    ...graph(),
    strategy: "depth_first",
    include_patterns: ["/page/[0-9]$"],
    exclude_patterns: ["/page/3$"],
  };
  const { discovered_urls } = await json(await spider.crawl("result_mode=urls", body));
  const expected = [0, 1, 2, 4, 5, 6, 7, 8, 9].map((page) => `${site.main.origin}/page/${page}`);
  expect(discovered_urls.toSorted()).toEqual(expected);
});

it("never replaces a whole site in the index", async () => {
  const url = `${site.main.origin}/page/0`;
  await spider.crawl("", { ...graph(), max_pages: 10 });
  await spider.crawl("", { seed_urls: [url], max_depth: 0 });
  const search = await spider.instance.call<{ results: { url: string }[] }>("POST", "/api/v1/search/keyword", {
    query: "politeness queue robot",
    domains: [site.main.host],
    limit: 50,
  });
  expect(search.results.filter((result) => result.url.startsWith(site.main.origin)).length).toBeGreaterThan(5);
});
