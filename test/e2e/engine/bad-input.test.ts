/** What is refused, over HTTP: with the name of the field, and without taking a job. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedRuntime } from "../../services/shared-runtime.ts";
import { slowness } from "../../services/slowness.ts";
import { html, type Site, startSite } from "../../sites/site.ts";
import { type Engine, engineOf } from "./engine.ts";

let site: Site;
let engine: Engine;
/** Of a key that nobody else uses: its jobs are those of this file. */
let keyId: string;
const release = Promise.withResolvers<void>();
beforeAll(async () => {
  site = await startSite({}, ({ url = "" }) => ({
    ...html("<p>A page about lighthouses.</p>"),
    ...(url.startsWith("/held/") && { after: release.promise }),
  }));
  const runtime = await sharedRuntime();
  const made = await runtime.call<{ id: string; key: string }>("POST", "/api/v1/api-keys", {
    name: "bad input",
    scopes: ["read", "write", "admin"],
    rate_limit_rpm: 100_000,
  });
  keyId = made.id;
  engine = engineOf(runtime, made.key);
});
afterAll(async () => {
  await engine?.close();
  await site?.close();
});

const NO_JOB = "01a21f4a-7c1e-7d37-b6c4-1f2a90c8e5d1";
const SEEDS = { seed_urls: ["https://a.example/"] };
const DEEP = { url: "https://a.example/" };
const PROXY = { name: "p", servers: [{ url: "http://proxy.example:3128" }] };
const jobs = async (): Promise<number> => (await engine.sql`select 1 from jobs where api_key_id = ${keyId}`).length;

/** The answer's status and all of its text. */
async function refusal(method: string, path: string, body?: unknown): Promise<[number, string]> {
  const response = await engine.send(method, path, body);
  return [response.status, await response.text()];
}

describe("400 that names", () => {
  it.each<[string, string, string, unknown, string]>([
    ["a field of results", "POST", "/spider/crawl?result_mode=pages&include=colour", SEEDS, "colour"],
    ["a field of results", "GET", `/jobs/${NO_JOB}/results?exclude=colour`, undefined, "colour"],
    ["a field of the body", "POST", "/spider/crawl", { ...SEEDS, depth: 1 }, "depth"],
    ["a field of the body", "POST", "/api/v1/crawl/deep", { ...DEEP, depth: 1 }, "depth"],
    ["a field of the body", "POST", "/extract/batch", { urls: [DEEP.url], timeout: 1 }, "timeout"],
    ["a result mode", "POST", "/spider/crawl?result_mode=everything", SEEDS, "result_mode"],
    ["a render mode", "POST", "/api/v1/crawl", { ...DEEP, config: { render: "sometimes" } }, "config.render"],
    ["a cursor of results", "GET", `/jobs/${NO_JOB}/results?cursor=x`, undefined, "cursor"],
    ["a cursor below zero", "GET", `/jobs/${NO_JOB}/results?cursor=-1`, undefined, "cursor"],
    ["a cursor of a stream", "GET", `/jobs/${NO_JOB}/stream?cursor=1.5`, undefined, "cursor"],
    ["a cursor of a job", "GET", `/api/v1/crawl/${NO_JOB}?cursor=x`, undefined, "cursor"],
    ["a cursor of jobs", "GET", "/api/v1/jobs?cursor=x", undefined, "cursor"],
    ["a cursor of a discovery", "GET", `/api/v1/discover/${NO_JOB}?cursor=x`, undefined, "cursor"],
    ["too many results", "GET", `/jobs/${NO_JOB}/results?limit=1001`, undefined, "limit"],
    ["a pattern", "POST", "/spider/crawl", { ...SEEDS, include_patterns: ["("] }, "include_patterns[0]"],
    ["a pattern", "POST", "/api/v1/crawl/deep", { ...DEEP, exclude: ["ok", "[z-a]"] }, "exclude[1]"],
    [
      "a pattern beyond RE2",
      "POST",
      "/spider/crawl",
      { ...SEEDS, exclude_patterns: ["(a)\\1"] },
      "exclude_patterns[0]",
    ],
    ["a pattern", "POST", "/spider/extract", { seeds: SEEDS.seed_urls, extract_pattern: "(?=a)" }, "extract_pattern"],
    ["a pattern", "POST", "/api/v1/discover", { domain: "a.example", pattern: "*" }, "pattern"],
    ["a strategy", "POST", "/spider/crawl", { ...SEEDS, strategy: "sideways" }, "strategy"],
    ["a strategy", "POST", "/api/v1/crawl/deep", { ...DEEP, strategy: "breadth" }, "strategy"],
    ["best first without keywords", "POST", "/api/v1/crawl/deep", { ...DEEP, strategy: "best_first" }, "keywords"],
    ["a proxy's address", "POST", "/api/v1/proxies", { ...PROXY, servers: [{ url: "ftp://a:1" }] }, "servers[0].url"],
    ["a proxy's rotation", "POST", "/api/v1/proxies", { ...PROXY, rotation_strategy: "any" }, "rotation_strategy"],
    ["a proxy that is no id", "POST", "/api/v1/crawl", { ...DEEP, config: { proxy_id: "p" } }, "config.proxy_id"],
    ["max_pages 0", "POST", "/spider/crawl", { ...SEEDS, max_pages: 0 }, "max_pages"],
    ["max_pages 0", "POST", "/api/v1/crawl/deep", { ...DEEP, max_pages: 0 }, "max_pages"],
    ["a negative depth", "POST", "/spider/crawl", { ...SEEDS, max_depth: -1 }, "max_depth"],
    ["a negative depth", "POST", "/api/v1/crawl/deep", { ...DEEP, max_depth: -1 }, "max_depth"],
    ["10,001 seeds", "POST", "/spider/crawl", { seed_urls: Array(10_001).fill("https://a.example/") }, "seed_urls"],
    ["101 URLs to extract", "POST", "/extract/batch", { urls: Array(101).fill("https://a.example/") }, "urls"],
    ["no seeds", "POST", "/spider/crawl", { seed_urls: [] }, "seed_urls"],
  ])("%s: %s %s", async (_, method, path, body, name) => {
    const before = await jobs();
    const [status, text] = await refusal(method, path, body);
    expect([status, text]).toEqual([400, expect.stringContaining(name)]);
    expect(await jobs()).toBe(before);
  });

  it("a proxy that there is none of", async () => {
    const before = await jobs();
    const [status, text] = await refusal("POST", "/api/v1/crawl", { ...DEEP, config: { proxy_id: NO_JOB } });
    expect([[400, 404].includes(status), text]).toEqual([true, expect.stringContaining("proxy_id")]);
    expect(await jobs()).toBe(before);
  });
});

it.each<[string, object, string]>([
  ["/spider/crawl", { seed_urls: ["http://10.0.0.1/", "http://169.254.169.254/"] }, "10.0.0.1"],
  [
    "/spider/crawl?result_mode=stream",
    { seed_urls: ["http://10.0.0.1/", "http://169.254.169.254/"] },
    "169.254.169.254",
  ],
  ["/spider/extract", { seeds: ["http://10.0.0.1/"] }, "10.0.0.1"],
  ["/api/v1/crawl", { urls: ["http://10.0.0.1/"] }, "10.0.0.1"],
  ["/api/v1/crawl/deep", { url: "http://10.0.0.1/" }, "10.0.0.1"],
  ["/api/v1/discover", { domain: "http://10.0.0.1/" }, "10.0.0.1"],
  ["/api/v1/screenshot", { url: "http://10.0.0.1/" }, "10.0.0.1"],
])("403 with each reason where all there is to crawl is blocked: %s", async (path, body, host) => {
  const before = await jobs();
  const [status, text] = await refusal("POST", path, body);
  expect([status, text]).toEqual([403, expect.stringContaining("URL_BLOCKED")]);
  expect(text).toContain(host);
  expect(await jobs()).toBe(before);
});

it("10,000 seeds are taken", async () => {
  const seed_urls = Array.from({ length: 10_000 }, (_, page) => `${site.origin}/${page}`);
  const before = await jobs();
  const job = await engine.store({ seed_urls, max_pages: 3 });
  expect(await jobs()).toBe(before + 1);
  expect((await engine.instance.waitForJob(job)).counts).toMatchObject({ crawled: 3, open: 0, skipped: 9_997 });
});

describe("the stream of a job that is over is its results and the stats record, at once", () => {
  const records = async (jobId: string): Promise<{ type: string; data: Record<string, unknown> }[]> => {
    const text = await (await engine.send("GET", `/jobs/${jobId}/stream?include=title`)).text();
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  };
  const start = (pages: number, folder: string) =>
    engine.store({
      seed_urls: Array.from({ length: pages }, (_, page) => `${site.origin}/${folder}/${page}`),
      max_pages: pages,
    });

  it("where it has finished", async () => {
    const job = await start(4, "over");
    await engine.instance.waitForJob(job);
    // a busy machine may hold up one of them, and not each
    const took: number[] = [];
    for (let reading = 0; reading < 5; reading += 1) {
      const started = performance.now();
      await records(job);
      took.push(performance.now() - started);
    }
    expect(Math.min(...took)).toBeLessThan(2_000 * slowness());
    const told = await records(job);
    expect(told.map(({ type }) => type)).toEqual(["page", "page", "page", "page", "stats"]);
    expect(told.at(-1)?.data).toMatchObject({ pages_crawled: 4, stop_reason: "completed" });
  });

  it("where it was cancelled a moment ago, with requests under way", async () => {
    const job = await start(200, "held");
    await expect.poll(() => site.paths().filter((path) => path.startsWith("/held/")).length).toBeGreaterThan(3);
    await engine.post(`/api/v1/crawl/${job}/cancel`, undefined);
    const told = await records(job);
    release.resolve();
    expect(told.at(-1)).toMatchObject({ type: "stats", data: { stop_reason: "manual_stop" } });
    expect(told.filter(({ type }) => type !== "page")).toHaveLength(1);
  });
});
