import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { api } from "../../../../functions/discover-api/handler.ts";
import { takeDiscovered } from "../../../../shared/crawl/discovery/jobs.ts";
import { writeDiscovery } from "../../../../shared/crawl/discovery/result.ts";
import { discoveryTaskSchema } from "../../../../shared/crawl/discovery/task.ts";
import { createObjectStore, type ObjectStore } from "../../../../shared/platform/aws/objects.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { callApi, type TestAnswer } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
let objects: ObjectStore;
beforeAll(async () => {
  setup = await setUpApi();
  objects = createObjectStore(setup.aws.s3, setup.aws.bucket);
});
afterAll(() => setup.close());
beforeEach(async () => {
  while ((await setup.aws.receive("discover")).length > 0);
});

const post = (path: string, json: unknown, key = setup.keys.write): Promise<TestAnswer> =>
  callApi(api, { path, key, json });
const start = (json: unknown): Promise<TestAnswer> => post("/api/v1/discover", json);
const show = (id: string, query = ""): Promise<TestAnswer> =>
  callApi(api, { path: `/api/v1/discover/${id}${query}`, key: setup.keys.read });

describe("taking a discovery", () => {
  test.each(["/(\u{1F41F}|fish)/", "\uFFFE", "\uFFFF"])("sends the pattern %j as it stands", async (pattern) => {
    const answer = await start({ domain: "a.example", pattern, score_query: `${pattern} shells` });
    expect(answer).toMatchObject({ status: 202, body: { status: "pending" } });
    const [message] = await setup.aws.receive("discover", 5);
    expect(discoveryTaskSchema.parse(message)).toMatchObject({ jobId: answer.body.job_id, pattern });
  });

  test("answers 202 and sends what was asked for", async () => {
    const answer = await start({ domain: " WWW.A.Example ", sources: ["common_crawl", "sitemap", "sitemap"] });
    expect(answer).toMatchObject({ status: 202, body: { status: "pending", message: expect.stringContaining("500") } });
    const [message] = await setup.aws.receive("discover", 5);
    expect(discoveryTaskSchema.parse(message)).toEqual({
      jobId: answer.body.job_id,
      domain: "www.a.example",
      sources: ["common_crawl", "sitemap"],
      pattern: null,
      maxUrls: 500,
      keywords: [],
      scoreThreshold: 0.3,
    });
    expect((await show(answer.body.job_id)).body).toMatchObject({
      status: "pending",
      error: null,
      urls_found: 0,
      completed_at: null,
      results: { items: [], next_cursor: null, has_more: false },
    });
  });

  test.each([
    ["a.example:8443", "a.example:8443"],
    ["https://a.example/some/page?x=1", "https://a.example"],
    ["http://a.example:80/", "http://a.example"],
    ["bücher.example", "xn--bcher-kva.example"],
  ])("the site of %s is %s", async (domain, site) => {
    const { body } = await start({ domain });
    expect((await show(body.job_id)).body.domain).toBe(site);
  });

  test("takes the request as the reference's own clients send it", async () => {
    const body = {
      domain: "a.example",
      sources: ["sitemap"],
      pattern: null,
      max_urls: 500,
      score_query: null,
      score_threshold: 0.3,
    };
    expect((await start(body)).status).toBe(202);
  });

  test.each([
    [{ domain: "" }, "domain"],
    [{}, "domain"],
    [{ domain: "a.example", sources: ["google"] }, "sources[0]"],
    [{ domain: "a.example", sources: [] }, "sources"],
    [{ domain: "a.example", max_urls: 0 }, "max_urls"],
    [{ domain: "a.example", max_urls: 50_001 }, "max_urls"],
    [{ domain: "a.example", max_urls: 1.5 }, "max_urls"],
    [{ domain: "a.example", pattern: "(" }, "pattern"],
    [{ domain: "a.example", pattern: "(?=x)" }, "pattern"],
    [{ domain: "a.example", pattern: "((a{1000}){1000}){1000}" }, "pattern"],
    [{ domain: "a.example", pattern: "x".repeat(10_000) }, "pattern"],
    [{ domain: "a.example", score_query: " ?! " }, "score_query"],
    [{ domain: "a.example", score_query: "x", score_threshold: 1.1 }, "score_threshold"],
    [{ domain: "a.example", score_threshold: 0.4 }, "score_threshold"],
    [{ domain: "a.example", limit: 5 }, "limit"],
  ])("%j is refused, naming %s", async (body, path) => {
    const answer = await start(body);
    expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR", details: { faults: [{ path }] } } });
  });

  test.each([
    ["localhost", 403, "URL_BLOCKED"],
    ["169.254.169.254", 403, "URL_BLOCKED"],
    ["0x7f.1", 403, "URL_BLOCKED"],
    ["http://[::1]/", 403, "URL_BLOCKED"],
    ["intranet", 403, "URL_BLOCKED"],
    ["a b.example", 400, "URL_INVALID"],
    ["ftp://a.example", 400, "URL_INVALID"],
    ["*.a.example", 400, "URL_INVALID"],
    ["https://user:secret@a.example", 400, "URL_INVALID"],
    ["a.example:99999", 400, "URL_INVALID"],
  ])("the domain %s is refused with %i %s", async (domain, status, code) => {
    const answer = await start({ domain });
    expect(answer).toMatchObject({ status, body: { code, details: { path: "domain" } } });
    expect(JSON.stringify(answer.body)).not.toContain("secret");
    expect(await setup.aws.receive("discover")).toEqual([]);
  });

  test("asks for the scope write", async () => {
    expect((await post("/api/v1/discover", { domain: "a.example" }, setup.keys.read)).status).toBe(403);
  });
});

describe("what became of it", () => {
  async function completed(urls: number): Promise<string> {
    const { body } = await start({ domain: "a.example", max_urls: 50_000 });
    const found = Array.from({ length: urls }, (_, index) => ({
      url: `https://a.example/${index}`,
      lastmod: index === 0 ? "2024-05-01" : null,
      source: "sitemap" as const,
      found_in: "https://a.example/sitemap.xml",
      score: null,
    }));
    await takeDiscovered(
      { sql: setup.database.sql, log: createLogger({}, "error") },
      {
        event: "ended",
        jobId: body.job_id,
        error: null,
        urlsFound: urls,
        resultKey: urls === 0 ? null : await writeDiscovery(objects, body.job_id, found),
        notes: [
          { source: "https://a.example/x.xml", code: "HTTP_404", message: "The server answered 404", count: null },
        ],
      },
    );
    return body.job_id;
  }

  test("the URLs come page by page, each once, in their order", async () => {
    const id = await completed(2_345);
    const seen: string[] = [];
    let query = "?limit=1000";
    for (;;) {
      const { status, body } = await show(id, query);
      expect(status).toBe(200);
      seen.push(...body.results.items.map(({ url }: { url: string }) => url));
      if (!body.results.has_more) break;
      query = `?limit=1000&cursor=${body.results.next_cursor}`;
    }
    expect(seen).toEqual(Array.from({ length: 2_345 }, (_, index) => `https://a.example/${index}`));
  });

  test("with what could not be read", async () => {
    const { body } = await show(await completed(1));
    expect(body).toMatchObject({
      status: "completed",
      urls_found: 1,
      notes: [{ source: "https://a.example/x.xml", code: "HTTP_404" }],
      results: {
        items: [{ url: "https://a.example/0", lastmod: "2024-05-01", source: "sitemap", score: null }],
        next_cursor: null,
      },
    });
    expect(body).not.toHaveProperty("result_key");
  });

  test("a page of 50,000 URLs takes no longer than a request may", async () => {
    const id = await completed(50_000);
    const used = process.cpuUsage();
    const { body } = await show(id, `?limit=1000&cursor=${Buffer.from("49500").toString("base64url")}`);
    expect(body.results.items).toHaveLength(500);
    expect(body.results.has_more).toBe(false);
    // what it works; how long that takes is a matter of what else the machine does
    expect(process.cpuUsage(used).user / 1000).toBeLessThan(5_000);
  });

  test("URLs that have expired are answered 410", async () => {
    const id = await completed(1);
    const [row] = await setup.database.sql<
      { result_key: string }[]
    >`select result_key from discovery_jobs where id = ${id}`;
    await setup.aws.removeObject(row?.result_key ?? "");
    expect(await show(id)).toMatchObject({ status: 410, body: { code: "RESULTS_EXPIRED" } });
  });

  test.each([[randomUUID()], ["not-an-id"]])("%s is not found", async (id) => {
    expect(await show(id)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  });

  test.each(["?cursor=%00", "?cursor=LTE", "?limit=0", "?limit=1001", "?page=2"])("%s is refused", async (query) => {
    expect(await show(randomUUID(), query)).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  });
});

describe("scoring URLs", () => {
  const score = (json: unknown): Promise<TestAnswer> => post("/api/v1/discover/score", json, setup.keys.read);

  test("gives each its score, in the order of the request, with titles where they are known", async () => {
    const answer = await score({
      urls: [
        "https://a.example/about",
        "https://a.example/pricing",
        { url: "https://a.example/p/7", title: "Pricing" },
        "nonsense",
      ],
      query: "the pricing",
    });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        keywords: ["pricing"],
        results: [
          { url: "https://a.example/about", score: 0, code: null },
          { url: "https://a.example/pricing", score: 0.6, code: null },
          { url: "https://a.example/p/7", score: 0.7, code: null },
          { url: "nonsense", score: null, code: "URL_INVALID" },
        ],
      },
    });
  });

  test("leaves out what scores less than asked for", async () => {
    const urls = ["https://a.example/about", "https://a.example/pricing"];
    const { body } = await score({ urls, query: "pricing", score_threshold: 0.5 });
    expect(body.results.map(({ url }: { url: string }) => url)).toEqual(["https://a.example/pricing"]);
  });

  test.each([
    [{ urls: [], query: "x" }, "urls"],
    [{ urls: ["https://a.example/"], query: "" }, "query"],
    [{ urls: ["https://a.example/"] }, "query"],
    [{ query: "x" }, "urls"],
    [{ urls: Array.from({ length: 10_001 }, () => "https://a.example/"), query: "x" }, "urls"],
    [{ urls: ["https://a.example/"], query: "x", score_threshold: -1 }, "score_threshold"],
  ])("a faulty request is refused, naming the field", async (body, path) => {
    expect(await score(body)).toMatchObject({ status: 400, body: { details: { faults: [{ path }] } } });
  });
});
