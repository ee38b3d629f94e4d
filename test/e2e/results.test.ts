import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningInstance } from "../services/instance.ts";
import { sharedRuntime } from "../services/shared-runtime.ts";
import { pageGraph } from "../sites/page-graph.ts";
import { html, type Site, startSite } from "../sites/site.ts";

const PAGES = 120;
const GRAPH = pageGraph({ pages: PAGES, linksPerPage: 4, pageBytes: 3_000 });
const bodyOf = (path: string): string => String((GRAPH[path] as { body?: string }).body);

let site: Site;
let instance: RunningInstance;
beforeAll(async () => {
  site = await startSite({
    ...GRAPH,
    "/article": html(
      `<title>Tides</title><meta name=author content="Ada Strand"><article><p>${"The tide comes in. ".repeat(20)}</article>`,
    ),
  });
  instance = await sharedRuntime();
});
afterAll(async () => {
  await site?.close();
});

interface Page {
  url: string;
  content?: string;
  status_code: number;
}
interface Results {
  pages: Page[];
  cursor: number;
  has_more: boolean;
  total_pages: number;
}

it("a crawl is read to its end while it runs: each page once, with the very content that the site sent", async () => {
  const job = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    url: `${site.origin}/page/0`,
    max_depth: 50,
    max_pages: 1_000,
    config: { rate_limit_rps: 60 },
  });
  const seen: Page[] = [];
  let whileRunning = 0;
  for (let cursor = 0, more = true; more; ) {
    const path = `/jobs/${job.job_id}/results?cursor=${cursor}&limit=20&include=content`;
    const results = await instance.call<Results>("GET", path);
    if (results.has_more) whileRunning += results.pages.length;
    seen.push(...results.pages);
    ({ cursor, has_more: more } = results);
  }
  expect(new Set(seen.map(({ url }) => url)).size).toBe(seen.length);
  expect(seen.map(({ url }) => new URL(url).pathname).toSorted()).toEqual(
    Array.from({ length: PAGES }, (_, page) => `/page/${page}`).toSorted(),
  );
  for (const { url, content } of seen) expect(content).toBe(bodyOf(new URL(url).pathname));
  expect(whileRunning).toBeGreaterThan(0);
  const stats = await instance.call<object>("GET", `/jobs/${job.job_id}/stats`);
  expect(stats).toMatchObject({ pages_crawled: PAGES, pages_failed: 0 });
});

it("a batch is extracted in the order asked for, and once more from the crawl cache without a request", async () => {
  const urls = [`${site.origin}/article`, `${site.origin}/nothing`, "http://10.0.0.1/"];
  const batch = () => instance.call<{ results: object[] }>("POST", "/extract/batch", { urls });
  const expected = {
    total_urls: 3,
    successful: 1,
    failed: 2,
    results: [
      {
        url: urls[0],
        status: "success",
        markdown: expect.stringContaining("The tide comes in."),
        metadata: { title: "Tides", author: "Ada Strand", word_count: 80 },
      },
      { url: urls[1], status: "failed", error: "HTTP_404: The server answered 404" },
      { url: urls[2], status: "failed", error: expect.stringMatching(/^URL_BLOCKED: /) },
    ],
  };
  expect(await batch()).toEqual(expected);
  expect(await batch()).toEqual(expected);
  expect(site.paths().filter((path) => path === "/article")).toHaveLength(1);
});

it.each(["/spider+extract", "/spider%2Bextract", "/spider/extract"])("%s answers over HTTP", async (path) => {
  const answer = await instance.call<{ extracted_pages: Page[] }>("POST", path, {
    seeds: [`${site.origin}/page/0`],
    scope: { max_depth: 1 },
    extract_pattern: "/page/[12]$",
  });
  expect(answer).toMatchObject({ crawl_stats: { pages_crawled: 5, domains: ["127.0.0.1"] } });
  expect(answer.extracted_pages.map(({ url }) => new URL(url).pathname).toSorted()).toEqual(["/page/1", "/page/2"]);
});

it.each([
  ["POST", "/spider+extracts", 404, "NOT_FOUND"],
  ["POST", "/nothing/here", 404, "NOT_FOUND"],
  ["GET", "/spider+extract", 405, "METHOD_NOT_ALLOWED"],
  ["PUT", "/extract/batch", 405, "METHOD_NOT_ALLOWED"],
])("%s %s is answered %i %s", async (method, path, status, code) => {
  const response = await fetch(instance.url + path, { method });
  expect(response.status).toBe(status);
  // each family in its own shape
  const expected = path === "/nothing/here" ? { code } : { error_code: code, message: expect.any(String) };
  expect(await response.json()).toMatchObject({ ...expected, request_id: expect.any(String) });
});
