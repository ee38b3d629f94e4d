import { Writable } from "node:stream";
import type { Context } from "aws-lambda";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { api } from "../../../../functions/extract-api/handler.ts";
import { proxyEvent } from "../../../services/api.ts";
import { page } from "../../crawl/crawl-setup.ts";
import type { Sent } from "../results-api/results-setup.ts";
import { type ExtractSetup, extractSetup, notFound } from "./extract-setup.ts";

let setup: ExtractSetup;
beforeAll(async () => {
  setup = await extractSetup();
});
afterAll(() => setup.close());

const batch = (body: object, server: (url: string) => Sent | undefined = (url) => ({ body: page(url) })) =>
  setup.post("/extract/batch", body, server);

const ARTICLE = `<!doctype html><html lang="en"><head><title>Tides</title>
  <script type="application/ld+json">{"@type":"Article","author":{"@type":"Person","name":"Ada Strand"},"datePublished":"2026-03-01"}</script></head>
  <body><nav><a href="/">Home</a></nav><article><h1>Tides</h1><p>${"One two three four five six, seven eight nine ten. ".repeat(10)}</p>
  <p onclick="x()">And <a href="/more">more</a>.</p></article></body></html>`;

test("each URL of the request has its result, in its place, whatever becomes of the others", async () => {
  const urls = [
    "http://a.example/good",
    "not a url",
    "http://a.example/missing",
    "http://127.0.0.1/private",
    "http://a.example/good#fragment",
    "ftp://a.example/",
    "http://a.example/denied",
    "http://a.example/good",
  ];
  const denied = { code: "ROBOTS_DENIED", message: "robots.txt forbids it", retryable: false };
  const answer = await batch({ urls }, (url) => {
    if (url.endsWith("/missing")) return notFound;
    return url.endsWith("/denied") ? { body: "", status: 0, error: denied } : { body: page("Good") };
  });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ total_urls: 8, successful: 3, failed: 5 });
  expect(answer.body.results.map(({ url }: { url: string }) => url)).toEqual(urls);
  const good = { status: "success", markdown: expect.stringContaining("# Good"), metadata: { title: "Good" } };
  expect(answer.body.results).toMatchObject([
    good,
    { status: "failed", error: expect.stringMatching(/^URL_INVALID: /) },
    { status: "failed", error: "HTTP_404: The server answered 404" },
    { status: "failed", error: expect.stringMatching(/^URL_BLOCKED: /) },
    good,
    { status: "failed", error: expect.stringMatching(/^URL_INVALID: /) },
    { status: "failed", error: "ROBOTS_DENIED: robots.txt forbids it" },
    good,
  ]);
  expect(answer.asked.filter((url) => url.endsWith("/good"))).toHaveLength(1);
  expect(answer.headers["x-job-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(await setup.sql`select from documents where job_id = ${answer.headers["x-job-id"] ?? ""}`).toHaveLength(0);
});

test("author, publish date and word count are those of the page; the content has the name of its format", async () => {
  const metadata = { title: "Tides", author: "Ada Strand", publish_date: "2026-03-01", word_count: 103 };
  const only = async (format?: string) => {
    const body = { urls: [`http://a.example/article?${format}`], ...(format && { format }) };
    const answer = await batch(body, () => ({ body: ARTICLE }));
    return answer.body.results[0];
  };
  const markdown = await only();
  expect(markdown).toMatchObject({ status: "success", metadata });
  expect(markdown.markdown).toContain("# Tides\n\nOne two three");
  expect(Object.keys(markdown)).toEqual(["url", "status", "markdown", "metadata"]);
  const text = await only("text");
  expect(text).toMatchObject({ text: expect.stringContaining("And more."), metadata });
  expect(text).not.toHaveProperty("markdown");
  const html = await only("html");
  expect(html).toMatchObject({ metadata });
  expect(html.html).toMatch(/^<h1>Tides<\/h1>\n<p>One two/);
  expect(html.html).toContain('<p>And <a href="http://a.example/more">more</a>.</p>');
  expect(html.html).not.toMatch(/Home|onclick|script/);
});

test("selectors say what of a page is its content, in every format", async () => {
  const body = `<title>Shop</title><nav><a href="/">Home</a></nav><main><h1>Chair</h1><p>${"Made of oak. ".repeat(20)}</p>
    <div class="box"><b class="price">120</b><i class="note">each</i></div></main>`;
  const only = async (format: string, config: object) => {
    const answer = await batch({ urls: [`http://selected.example/${format}`], format, config }, () => ({ body }));
    return answer.body.results[0][format];
  };
  const config = { include_selectors: [".box"], exclude_selectors: [".note"] };
  expect(await only("markdown", config)).toBe("**120**");
  expect(await only("html", config)).toBe("<p><b>120</b></p>");
  expect(await only("text", { only_main_content: false })).toMatch(/^Home\n\nChair/);
});

test("a selector that is none is refused by its name", async () => {
  const config = { exclude_selectors: ["nav", "p::before"] };
  const answer = await batch({ urls: ["http://a.example/"], config });
  expect(answer).toMatchObject({
    status: 400,
    body: { error_code: "VALIDATION_ERROR", details: { faults: [{ path: "config.exclude_selectors[1]" }] } },
  });
  expect(answer.body.message).toContain('"p::before" is no CSS selector for a page: ::before is no element of a page');
});

test("plain text is HTML too, as it stands", async () => {
  const headers: [string, string][] = [["content-type", "text/plain"]];
  const answer = await batch({ urls: ["http://a.example/t"], format: "html" }, () => ({
    body: "1 < 2 & so on",
    headers,
  }));
  expect(answer.body.results[0].html).toBe("<pre>1 &lt; 2 &amp; so on</pre>");
});

test("what is not there in time has failed with TIMEOUT, and the answer holds the rest", async () => {
  const urls = ["http://a.example/quick", "http://slow.example/never"];
  let timeIsUp = Number.POSITIVE_INFINITY;
  const [answer] = await Promise.all([
    batch({ urls, timeout_seconds: 120 }, (url) => (url.includes("slow") ? undefined : { body: page("Quick") })),
    // however long the machine takes for the one that is answered
    setup.onceCaptured("http://a.example/quick").then(async (jobId) => {
      const [row] = await setup.sql<{ at: Date }[]>`
        update jobs set deadline_at = now() + interval '2 seconds' where id = ${jobId} returning deadline_at as at`;
      timeIsUp = row?.at.getTime() ?? timeIsUp;
    }),
  ]);
  expect(Date.now()).toBeGreaterThanOrEqual(timeIsUp);
  expect(answer.body).toMatchObject({
    total_urls: 2,
    successful: 1,
    failed: 1,
    results: [{ status: "success" }, { status: "failed", error: expect.stringMatching(/^TIMEOUT: .* 120 s/) }],
  });
});

test("where every URL is refused there is nothing to fetch, and the answer says why", async () => {
  const answer = await batch({ urls: ["http://localhost/", "x"] });
  expect(answer).toMatchObject({ status: 200, asked: [], body: { total_urls: 2, successful: 0, failed: 2 } });
  expect(answer.headers).not.toHaveProperty("x-job-id");
});

test("a content that is long is cut, and says so", async () => {
  const answer = await batch({ urls: ["http://a.example/long"], format: "text" }, () => ({
    body: `<p>${"潮が流木を運ぶ。\n".repeat(60_000)}</p>`,
    headers: [["content-type", "text/html; charset=utf-8"]],
  }));
  const [result] = answer.body.results;
  expect(result.truncated).toBe(true);
  expect(Buffer.byteLength(result.text)).toBeGreaterThan(999_990);
  expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(1_000_000);
});

describe("what is asked for", () => {
  test("more than twenty at once means twenty, as in the reference", async () => {
    const answer = await batch({ urls: ["http://a.example/many"], concurrency: 50 });
    const [job] = await setup.sql<{ settings: Record<string, unknown>; delivery: string }[]>`
      select settings, delivery from jobs where id = ${answer.headers["x-job-id"] ?? ""}`;
    expect(job).toMatchObject({ delivery: "answer", settings: { concurrency: 20, index: false, cache: "use" } });
  });

  test.each([
    [{}, "urls"],
    [{ urls: [] }, "urls"],
    [{ urls: Array.from({ length: 101 }, (_, n) => `http://a.example/${n}`) }, "urls"],
    [{ urls: ["http://a.example/", 7] }, "urls[1]"],
    [{ urls: ["http://a.example/"], format: "pdf" }, "format"],
    [{ urls: ["http://a.example/"], concurrency: 0 }, "concurrency"],
    [{ urls: ["http://a.example/"], timeout_seconds: 0 }, "timeout_seconds"],
    [{ urls: ["http://a.example/"], timeout_seconds: 900 }, "timeout_seconds"],
    [{ urls: ["http://a.example/"], formats: "text" }, "formats"],
  ])("%j is refused by its name", async (body, path) => {
    expect(await batch(body)).toMatchObject({
      status: 400,
      body: { error_code: "VALIDATION_ERROR", details: { faults: [{ in: "body", path }] } },
    });
  });
});

test("the job of a client that has left ends", async () => {
  const json = { urls: ["http://slow.example/abandoned"], timeout_seconds: 200 };
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
  const context = { getRemainingTimeInMillis: () => 300_000 } as Context;
  const handled = api.handler(proxyEvent({ path: "/extract/batch", json, key: setup.key }), stream as never, context);
  const job = () => setup.sql`select status, cancel_requested from jobs where settings->>'seeds' like '%abandoned%'`;
  await expect.poll(job).toHaveLength(1);
  stream.destroy();
  await handled;
  expect(await job()).toMatchObject([{ cancel_requested: true }]);
});
