import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { page } from "../../crawl/crawl-setup.ts";
import type { Sent } from "../results-api/results-setup.ts";
import { type ExtractSetup, extractSetup, notFound } from "./extract-setup.ts";

let setup: ExtractSetup;
beforeAll(async () => {
  setup = await extractSetup();
});
afterAll(() => setup.close());

const SITE: Record<string, Sent> = {
  "/": {
    body: page("Home", ["/article/1", "/article/2", "/article/gone", "/about", "http://elsewhere.example/article/9"]),
  },
  "/article/1": { body: page("First article", ["/article/3"]) },
  "/article/2": { body: page("Second article") },
  "/article/3": { body: page("Third article") },
  "/article/gone": notFound,
  "/about": { body: page("About") },
};
const server = (host: string) => (url: string) => {
  const { pathname, host: asked } = new URL(url);
  return asked === host ? SITE[pathname] : { body: page("Elsewhere") };
};

interface Extracted {
  url: string;
  status: string;
  markdown?: string;
  crawl_depth: number;
}
/** What this process has worked since, in ms: other than the time, that is no matter of what else the machine does. */
const cpuMs = (since: NodeJS.CpuUsage): number => process.cpuUsage(since).user / 1000;
const byUrl = (pages: Extracted[]) => pages.toSorted((a, b) => (a.url < b.url ? -1 : 1));

test.each([
  ["/spider+extract", "one.example"],
  ["/spider%2Bextract", "two.example"],
  ["/spider/extract", "three.example"],
])("%s crawls, and extracts the matching pages from what was crawled", async (path, host) => {
  const body = {
    seeds: [`http://${host}/`],
    scope: { max_depth: 2, max_pages: 100, same_domain_only: true },
    include: ["markdown", "title"],
    result_mode: "pages",
    extract_pattern: ".*\\/article\\/.*",
  };
  const answer = await setup.post(path, body, server(host));
  expect(answer.status).toBe(200);
  expect(answer.body.crawl_stats).toEqual({
    pages_crawled: 5,
    pages_failed: 1,
    duration_seconds: expect.any(Number),
    stop_reason: "completed",
    domains: [host],
  });
  const pages = byUrl(answer.body.extracted_pages);
  expect(pages.map(({ url, status, crawl_depth }) => [new URL(url).pathname, status, crawl_depth])).toEqual([
    ["/article/1", "success", 1],
    ["/article/2", "success", 1],
    ["/article/3", "success", 2],
    ["/article/gone", "failed", 1],
  ]);
  expect(pages[0]).toEqual({
    url: `http://${host}/article/1`,
    title: "First article",
    status: "success",
    markdown: expect.stringContaining("# First article"),
    metadata: { title: "First article", word_count: expect.any(Number) },
    crawl_depth: 1,
  });
  expect(pages[3]).toMatchObject({ error: "HTTP_404: The server answered 404" });
  expect(answer.asked.toSorted()).toEqual(
    Object.keys(SITE)
      .map((each) => `http://${host}${each}`)
      .toSorted(),
  );
});

test("include adds the fields of crawled pages; without markdown there is none; without a pattern every page counts", async () => {
  const seeds = ["http://fields.example/"];
  const answer = await setup.post(
    "/spider/extract",
    { seeds, scope: { max_depth: 0 }, include: ["Links ", "mime", "content", "depth", "status_code"] },
    server("fields.example"),
  );
  expect(answer.body.extracted_pages).toEqual([
    {
      url: seeds[0],
      content: SITE["/"]?.body,
      links: expect.arrayContaining(["http://fields.example/about"]),
      mime: "text/html",
      depth: 0,
      status_code: 200,
      status: "success",
      metadata: { title: "Home", word_count: expect.any(Number) },
      crawl_depth: 0,
    },
  ]);
});

test.each([null, { max_depth: null, max_pages: null, same_domain_only: null }, {}])(
  "a scope of %j is that of the reference",
  async (scope) => {
    const body = { seeds: ["http://scope.example/"], scope, extract_pattern: null };
    const answer = await setup.post("/spider/extract", body, server("scope.example"));
    expect(answer).toMatchObject({ status: 200, body: { crawl_stats: { pages_crawled: 5 } } });
  },
);

test("a crawl that takes too long is answered with what there is", async () => {
  const [answer] = await Promise.all([
    setup.post("/spider/extract", { seeds: ["http://slow.example/"], timeout_seconds: 120 }, (url) =>
      url.endsWith("/article/2") ? undefined : server("slow.example")(url),
    ),
    setup
      .onceCaptured("http://slow.example/article/1")
      .then((jobId) => setup.sql`update jobs set deadline_at = now() where id = ${jobId}`),
  ]);
  expect(answer.body.crawl_stats).toMatchObject({ stop_reason: "timeout" });
  const found = (answer.body.extracted_pages as Extracted[]).filter(({ status }) => status === "success");
  expect(found.map(({ url }) => new URL(url).pathname)).toContain("/article/1");
});

describe("what cannot be meant is refused by its name", () => {
  test.each([
    [{ extract_pattern: "(article" }, "extract_pattern", /\(article/],
    [{ extract_pattern: "(?=look)ahead" }, "extract_pattern", /\?=/],
    [{ include: ["markdown", "body"] }, "include[1]", /"body" is no field/],
    [{ result_mode: "stream" }, "result_mode", /POST \/spider\/crawl\?result_mode=stream/],
    [{ result_mode: "everything" }, "result_mode", /./],
    [{ scope: { max_pages: 5_000 } }, "scope.max_pages", /./],
    [{ scope: { depth: 5 } }, "scope.depth", /./],
    [{ seeds: [] }, "seeds", /./],
  ])("%j", async (fault, path, message) => {
    const body = { seeds: ["http://a.example/"], ...fault };
    const answer = await setup.post("/spider+extract", body, () => undefined);
    expect(answer).toMatchObject({
      status: 400,
      body: { error_code: "VALIDATION_ERROR", details: { faults: [{ path }] } },
    });
    expect(answer.body.message).toMatch(message);
  });

  test("seeds that are all blocked", async () => {
    const answer = await setup.post("/spider+extract", { seeds: ["http://127.0.0.1/"] }, () => undefined);
    expect(answer).toMatchObject({ status: 403, body: { error_code: "URL_BLOCKED" } });
    expect(answer.body.details.refused_seeds).toMatchObject([{ path: "seeds[0]" }]);
  });
});

test("a hostile pattern costs no time", async () => {
  const seeds = [`http://hostile.example/${"a".repeat(1_500)}`];
  const used = process.cpuUsage();
  const answer = await setup.post(
    "/spider/extract",
    { seeds, scope: { max_depth: 0 }, extract_pattern: "(a+)+$x|(a|a)*b" },
    () => ({ body: page("Hostile") }),
  );
  expect(answer.body).toMatchObject({ crawl_stats: { pages_crawled: 1 }, extracted_pages: [] });
  expect(cpuMs(used)).toBeLessThan(20_000);
});

test("a pattern that is too long is refused unread, and not repeated in the answer", async () => {
  const used = process.cpuUsage();
  const answer = await setup.post(
    "/spider/extract",
    { seeds: ["http://long.example/"], extract_pattern: "a".repeat(1_000_000) },
    () => undefined,
  );
  expect(answer).toMatchObject({ status: 400, body: { error_code: "VALIDATION_ERROR" } });
  expect(answer.body.message).toContain("extract_pattern");
  expect(JSON.stringify(answer.body).length).toBeLessThan(2_000);
  expect(cpuMs(used)).toBeLessThan(1_000);
});

test("whatever else lands at the root is not found, in the shape of its family", async () => {
  const answer = await setup.post("/spider+extracts", {}, () => undefined);
  expect(answer.status).toBe(404);
  expect(answer.body).toMatchObject({ error_code: "NOT_FOUND", message: "There is no such route" });
});
