import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { commonCrawlDouble, type IndexedCapture } from "../../../sites/common-crawl.ts";
import { discoveryHarness } from "./harness.ts";

const ONLY = { sources: ["common_crawl" as const] };
const captures = (...paths: string[]): IndexedCapture[] =>
  paths.map((path) => ({ url: `https://www.a.example${path}` }));

async function setUp(pages: readonly (readonly IndexedCapture[])[]) {
  const server = await commonCrawlDouble(pages);
  return { server, harness: await discoveryHarness({ COMMON_CRAWL__URL: server.origin }) };
}

test("the newest index is asked for a site and its subdomains, page by page, one request at a time", async () => {
  const { server, harness } = await setUp([captures("/1", "/2"), captures("/2", "/3")]);
  await using _ = server;
  const found = await harness.find("a.example", ONLY);
  expect(found).toMatchObject({ error: null, notes: [] });
  expect(found.urls).toMatchObject([
    { url: "https://www.a.example/1", source: "common_crawl", lastmod: null },
    { url: "https://www.a.example/2" },
    { url: "https://www.a.example/3" },
  ]);
  const [count, first, second] = server.queries();
  expect(count?.get("showNumPages")).toBe("true");
  expect([first?.get("page"), second?.get("page")]).toEqual(["0", "1"]);
  for (const query of server.queries()) {
    expect(query.get("url")).toBe("*.a.example");
    expect(query.get("output")).toBe("json");
    expect(query.getAll("filter")).toContain("=status:200");
  }
  // an API is not a site to crawl: its robots.txt is not asked
  expect(server.paths(true)[0]).toBe("/collinfo.json");
});

test("captures that were no pages, or of other hosts, are left out", async () => {
  const { server, harness } = await setUp([
    [
      ...captures("/page"),
      { url: "https://www.a.example/gone", status: "404" },
      { url: "https://www.a.example/x.pdf", mime: "application/pdf" },
      { url: "https://www.a.example/x.xhtml", mime: "application/xhtml+xml" },
      { url: "https://other.example/" },
    ],
  ]);
  await using _ = server;
  const found = await harness.find("a.example", ONLY);
  expect(found.urls.map(({ url }) => new URL(url).pathname)).toEqual(["/page", "/x.xhtml"]);
  expect(found.notes).toMatchObject([{ code: "WRONG_HOST", count: 1 }]);
});

test("a page that the filters leave empty does not end the reading", async () => {
  const { server, harness } = await setUp([[{ url: "https://a.example/x", status: "301" }], captures("/1")]);
  await using _ = server;
  expect((await harness.find("a.example", ONLY)).urlsFound).toBe(1);
});

test("a site that it does not know completes without URLs", async () => {
  const { server, harness } = await setUp([]);
  await using _ = server;
  const found = await harness.find("a.example", ONLY);
  expect(found).toMatchObject({ error: null, urlsFound: 0, notes: [{ code: "NO_CAPTURES" }] });
});

test.each([
  ["a count of no pages", [{ body: '{"pages": 0, "pageSize": 5, "blocks": 0}' }]],
  ["a count without a name", [{ body: "0" }]],
  ["a page without captures", [{ body: '{"pages": 1}' }, { status: 404, body: '{"message": "No Captures found"}' }]],
  ["an empty page", [{ body: "1" }, { body: "" }]],
])("that it does not know a site may also be told by %s", async (_how, answers) => {
  const { server, harness } = await setUp([captures("/1")]);
  await using _ = server;
  server.interrupt(...answers);
  const found = await harness.find("a.example", ONLY);
  expect(found).toMatchObject({ error: null, urlsFound: 0, notes: [{ code: "NO_CAPTURES" }] });
});

test("an index that is overloaded is asked again, later each time", async () => {
  const { server, harness } = await setUp([captures("/1")]);
  await using _ = server;
  server.interrupt({ status: 503, body: "Slow Down" }, { status: 504 });
  expect((await harness.find("a.example", ONLY)).urlsFound).toBe(1);
  const times = server.requests.filter(({ path }) => path.includes("showNumPages")).map(({ at }) => at);
  expect(times).toHaveLength(3);
  expect((times[1] as number) - (times[0] as number)).toBeGreaterThanOrEqual(950);
  expect((times[2] as number) - (times[1] as number)).toBeGreaterThanOrEqual(1_950);
});

test("an index that asks for time gets it", async () => {
  const { server, harness } = await setUp([captures("/1")]);
  await using _ = server;
  server.interrupt({ status: 429, headers: { "Retry-After": "3" } });
  expect((await harness.find("a.example", ONLY)).urlsFound).toBe(1);
  const [first, second] = server.requests.filter(({ path }) => path.includes("showNumPages")).map(({ at }) => at);
  expect((second as number) - (first as number)).toBeGreaterThanOrEqual(2_950);
});

test("an index that stays down fails the job where it is the only source, and is a note where it is not", async () => {
  const { server, harness } = await setUp([captures("/1")]);
  await using _ = server;
  server.interrupt(...Array.from({ length: 4 }, () => ({ status: 403, body: "blocked" })));
  const alone = await harness.find("a.example", ONLY);
  expect(alone.error).toMatch(/^COMMON_CRAWL_UNAVAILABLE: .*403/);
  server.route({ "/sitemap.txt": { body: `${server.origin}/1\n` }, "/robots.txt": { status: 404 } });
  const both = await harness.find(server.origin, { sources: ["common_crawl", "sitemap"] });
  expect(both).toMatchObject({ error: null, urlsFound: 1 });
  expect(both.noted).toContain("COMMON_CRAWL_UNAVAILABLE common_crawl");
});

test("a page that fails after others leaves what they gave", async () => {
  const { server, harness } = await setUp([captures("/1"), captures("/2")]);
  await using _ = server;
  let asked = 0;
  server.route({
    "/CC-MAIN-2026-46-index": () => {
      asked += 1;
      if (asked === 1) return { body: '{"pages": 2, "pageSize": 5, "blocks": 7}' };
      return asked === 2 ? { body: '{"url": "https://a.example/1"}\n{"url": 7}\nnonsense\n' } : { status: 400 };
    },
  });
  const found = await harness.find("a.example", ONLY);
  expect(found).toMatchObject({ error: null, urlsFound: 1 });
  expect(found.notes).toMatchObject([{ code: "LINE_INVALID", count: 2 }, { code: "HTTP_400" }]);
});

test("compressed pages are read, whether their last line ends or not", async () => {
  const { server, harness } = await setUp([captures("/1")]);
  await using _ = server;
  const lines = '{"url": "https://a.example/1"}\n{"url": "https://a.example/2"}';
  server.route({
    "/CC-MAIN-2026-46-index": (request) =>
      request.url?.includes("showNumPages")
        ? { body: '{"pages": 1}' }
        : { headers: { "Content-Encoding": "gzip" }, body: gzipSync(lines) },
  });
  expect((await harness.find("a.example", ONLY)).urlsFound).toBe(2);
});

test.each([
  ["no JSON", "<html>maintenance</html>"],
  ["an empty list", "[]"],
  ["another shape", '[{"name": "x"}]'],
])("a list of indexes that is %s is said to be none", async (_name, body) => {
  const { server, harness } = await setUp([captures("/1")]);
  await using _ = server;
  server.route({ "/collinfo.json": { body } });
  expect((await harness.find("a.example", ONLY)).error).toMatch(/^COMMON_CRAWL_UNAVAILABLE: .*collinfo/);
});

test("max_urls ends the reading of pages", async () => {
  const { server, harness } = await setUp([captures("/1", "/2", "/3"), captures("/4")]);
  await using _ = server;
  const found = await harness.find("a.example", { ...ONLY, maxUrls: 2 });
  expect(found.urlsFound).toBe(2);
  expect(server.queries()).toHaveLength(2);
});

test("a site on a port of its own is asked for as such", async () => {
  const { server, harness } = await setUp([[{ url: "https://a.example:8443/1" }, { url: "https://a.example/2" }]]);
  await using _ = server;
  const found = await harness.find("a.example:8443", ONLY);
  expect(found.urls.map(({ url }) => url)).toEqual(["https://a.example:8443/1"]);
  expect(server.queries()[0]?.get("url")).toBe("a.example:8443/*");
});
