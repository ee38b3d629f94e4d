import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { api } from "../../../../functions/scrape-api/handler.ts";
import { isFaultOfTheSite } from "../../../../shared/crawl/http/answer-fault.ts";
import { mediaRequestSchema } from "../../../../shared/crawl/tasks/media-request.ts";
import { answerRemoteCall, remoteCallSchema } from "../../../../shared/platform/aws/remote-call.ts";
import { systemClock } from "../../../../shared/platform/clock.ts";
import { ApiError } from "../../../../shared/platform/errors.ts";
import { type ExtractSetup, extractSetup, notFound } from "../extract-api/extract-setup.ts";
import type { Sent } from "../results-api/results-setup.ts";

let setup: ExtractSetup;
beforeAll(async () => {
  setup = await extractSetup(api);
});
afterAll(() => setup.close());

const PAGE = `<!doctype html><html lang="en"><head><title>Chair</title><meta name="author" content="Ada Strand">
  <meta name="description" content="A chair of oak."><meta name="keywords" content="oak, chair">
  <meta property="og:image" content="/chair.png"><link rel="canonical" href="/chair"></head>
  <body><nav><a href="/">Home</a></nav><main><h1>Chair</h1><p>${"Made of oak, by hand, in winter. ".repeat(10)}</p>
  <div class="offer" data-shop="1"><b>120</b></div><div class="offer" data-shop="2"><b>90</b></div></main></body></html>`;

const scrape = (json: object, server: (url: string) => Sent | undefined = () => ({ body: PAGE })) =>
  setup.post("/api/v1/scrape", json, server);

test("one page comes in several formats at once, and is fetched once", async () => {
  const url = "http://a.example/chair?all";
  const formats = ["markdown", "text", "html", "raw_html", "links", "metadata"];
  const { status, body, asked } = await scrape({ url, formats });
  expect({ status, asked }).toEqual({ status: 200, asked: [url] });
  expect(body).toEqual({
    url,
    job_id: expect.any(String),
    final_url: url,
    status_code: 200,
    markdown: expect.stringMatching(/^# Chair\n\nMade of oak/),
    text: expect.stringMatching(/^Chair\n\nMade of oak/),
    html: expect.stringMatching(/^<h1>Chair<\/h1>\n<p>Made of oak/),
    raw_html: PAGE,
    links: ["http://a.example/"],
    metadata: {
      title: "Chair",
      author: "Ada Strand",
      description: "A chair of oak.",
      keywords: ["oak", "chair"],
      image: "http://a.example/chair.png",
      language: "en",
      canonical_url: "http://a.example/chair",
      mime: "text/html",
      charset: "UTF-8",
      word_count: expect.any(Number),
      crawled_at: expect.any(String),
    },
  });
  expect(await setup.sql`select from documents where job_id = ${body.job_id}`).toHaveLength(0);
});

test("without formats it is Markdown and metadata; selectors say what of the page they hold", async () => {
  const config = { include_selectors: [".offer"] };
  const { body } = await scrape({ url: "http://a.example/chair?selected", config });
  expect(body).toMatchObject({ markdown: "**120**\n\n**90**", metadata: { title: "Chair", word_count: 2 } });
  expect(body).not.toHaveProperty("text");
});

test("json holds the fields of the schema, of the whole page", async () => {
  const offer = { shop: { type: "attribute", attribute: "data-shop" }, price: { selector: "b" } };
  const schema = {
    fields: {
      title: { selector: "h1" },
      offers: { selector: ".offer", multiple: true, type: "nested", fields: offer },
    },
  };
  const wanted = { url: "http://a.example/chair?json", formats: ["json"], schema };
  const { body } = await scrape({ ...wanted, config: { exclude_selectors: ["h1"] } });
  expect(body.json).toEqual({
    title: "Chair",
    offers: [
      { shop: "1", price: "120" },
      { shop: "2", price: "90" },
    ],
  });
});

test("a screenshot is taken with the settings of the page, and waits for its host", async () => {
  const asked: unknown[] = [];
  const picture = { finalUrl: "http://a.example/p", status: 200, navigations: [], complete: true };
  const kept = {
    key: "media/1.png",
    contentType: "image/png",
    sizeBytes: 9,
    width: 390,
    height: 844,
    truncated: false,
  };
  const busy = new ApiError(503, "busy", { code: "HOST_BUSY", details: { retry_after_seconds: 1 } });
  const { dynamo, stateTable } = setup.aws;
  const take = async (request: unknown) => {
    asked.push(mediaRequestSchema.parse(request));
    if (asked.length === 1) throw busy;
    return { ...picture, ...kept };
  };
  const over = new AbortController();
  const browser = (async () => {
    while (!over.signal.aborted) {
      for (const message of await setup.aws.receive("media", 1)) {
        await answerRemoteCall({ dynamo, clock: systemClock }, stateTable, remoteCallSchema.parse(message), take);
      }
    }
  })();
  const config = {
    render: "auto",
    mobile: true,
    actions: [{ type: "click", selector: "#more" }],
    cookies: [{ host: "a.example", name: "s", value: "1" }],
    headers: { "x-team": "blue" },
  };
  const wanted = { url: "http://a.example/p", formats: ["text", "screenshot"], screenshot: { full_page: false } };
  const { status, body } = await scrape({ ...wanted, config });
  over.abort();
  await browser;
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      text: expect.stringContaining("Made of oak"),
      screenshot: { content_type: "image/png", width: 390, download_url: expect.stringContaining("media/1.png") },
    },
  });
  const { actions, cookies, headers } = config;
  const window = { width: 390, height: 844, mobile: true };
  expect(asked).toHaveLength(2);
  expect(asked[1]).toMatchObject({ kind: "screenshot", fullPage: false, window, actions, cookies, headers });
});

describe("a page that is not there is the answer's error", () => {
  const gone: Sent = {
    body: "",
    status: 0,
    error: { code: "ROBOTS_DENIED", message: "robots.txt forbids it", retryable: false },
  };
  const pdf: Sent = { body: "%PDF-1.7", headers: [["content-type", "application/pdf"]] };
  const text: Sent = { body: "only text", headers: [["content-type", "text/plain"]] };
  const schema = { fields: { a: { selector: "p" } } };

  test.each<[string, object, Sent, number, string, number | undefined]>([
    ["an image of a 404", {}, { ...notFound, ...pdf, status: 404 }, 422, "UNSUPPORTED_TYPE", 404],
    [
      "nowhere",
      {},
      { ...gone, error: { code: "CONNECT_FAILED", message: "no", retryable: false } },
      502,
      "CONNECT_FAILED",
      undefined,
    ],
    ["forbidden", {}, gone, 403, "ROBOTS_DENIED", undefined],
    ["binary", {}, pdf, 422, "UNSUPPORTED_TYPE", 200],
    ["fieldless", { formats: ["json"], schema }, text, 422, "UNSUPPORTED_TYPE", undefined],
  ])("%s", async (path, wanted, sent, status, code, site_status) => {
    const answer = await scrape({ url: `http://a.example/${path}`, ...wanted }, () => sent);
    expect(answer).toMatchObject({ status, body: { code, details: { path: "url" } } });
    expect(answer.body.details.site_status).toBe(site_status);
    expect(answer.body.error).toMatch(/^url: /);
  });

  test("late", async () => {
    const wanted = { url: "http://slow.example/", timeout_seconds: 1 };
    expect(await scrape(wanted, () => undefined)).toMatchObject({ status: 504, body: { details: { path: "url" } } });
  });
});

describe("a page that its site answers with an error status", () => {
  const formats = ["markdown", "html", "raw_html", "links", "metadata", "json"];
  const schema = { fields: { title: { selector: "h1" } } };
  const errorPage = (status: number, body: string, headers?: [string, string][]): Sent => {
    const error = { code: `HTTP_${status}`, message: `The server answered ${status}`, retryable: false };
    return { status, body, error, ...(headers && { headers }) };
  };

  test.each([404, 410, 403, 500])("comes in its formats, and says so: %i", async (code) => {
    const url = `http://a.example/error/${code}`;
    const { status, body } = await scrape({ url, formats, schema }, () => errorPage(code, PAGE));
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        url,
        status_code: code,
        fetch_error: `HTTP_${code}: The server answered ${code}`,
        markdown: expect.stringMatching(/^# Chair\n\nMade of oak/),
        html: expect.stringMatching(/^<h1>Chair<\/h1>/),
        raw_html: PAGE,
        links: ["http://a.example/"],
        metadata: { title: "Chair", author: "Ada Strand", mime: "text/html" },
        json: { title: "Chair" },
      },
    });
  });

  test("is taken by its selectors, and needs no browser for a picture that there cannot be", async () => {
    const wanted = { url: "http://a.example/error/selected", formats: ["markdown", "screenshot"] };
    const config = { include_selectors: [".offer"] };
    const { status, body } = await scrape({ ...wanted, config }, () => errorPage(404, PAGE));
    expect({ status, body }).toMatchObject({ status: 200, body: { status_code: 404, markdown: "**120**\n\n**90**" } });
    expect(body).not.toHaveProperty("screenshot");
  });

  test("may be empty", async () => {
    const { status, body } = await scrape({ url: "http://a.example/error/empty" }, () => notFound);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status_code: 404, markdown: "", metadata: { word_count: 0 } },
    });
  });
});

describe("what a browser could not do is said", () => {
  const failed = (code: string, message: string) => ({ code, message, retryable: false });

  test("beside the page", async () => {
    const error = failed("ACTION_FAILED", "actions[0] (click): nothing matches #more");
    const rendered = { reason: "always", renderer: "chromium" as const, warc: null, error };
    const { body } = await scrape({ url: "http://a.example/clicked" }, () => ({ body: PAGE, rendered }));
    const { code, message } = error;
    expect(body.rendered).toEqual({ reason: "always", renderer: "chromium", error_code: code, error_message: message });
  });

  test("where that is why there is no page", async () => {
    const error = failed("RENDER_FAILED", "The PDF is locked with a password");
    const rendered = { reason: "pdf", renderer: null, warc: null, error };
    const pdf: Sent = { body: "%PDF-1.7", headers: [["content-type", "application/pdf"]], rendered };
    const answer = await scrape({ url: "http://a.example/locked.pdf", config: { pdf: "read" } }, () => pdf);
    expect(answer).toMatchObject({ status: 422, body: { code: "UNSUPPORTED_TYPE" } });
    expect(answer.body.error).toContain("RENDER_FAILED: The PDF is locked with a password");
  });
});

test("what is the site's fault is no fault of ours in the logs", async () => {
  expect(["HTTP_404", "HTTP_503", "CONNECT_FAILED", "BODY_TIMEOUT", "CIRCUIT_OPEN"].every(isFaultOfTheSite)).toBe(true);
  expect(["INTERNAL", "ARCHIVE_UNREADABLE", "RENDERER_UNAVAILABLE", "DEAD_LETTERED"].some(isFaultOfTheSite)).toBe(
    false,
  );
});

test.each([
  [{}, "url"],
  [{ formats: [] }, "formats"],
  [{ formats: ["pdf"] }, "formats[0]"],
  [{ formats: ["json"] }, "schema"],
  [{ schema: { fields: { a: { selector: "p" } } } }, "schema"],
  [{ formats: ["json"], schema: { fields: { a: { selector: "p:" } } } }, "schema.fields.a.selector"],
  [{ config: { include_selectors: ["<"] } }, "config.include_selectors[0]"],
  [{ screenshot: {} }, "screenshot"],
  [{ config: { actions: [{ type: "click" }] } }, "config.actions[0].selector"],
  [{ config: { actions: [{ type: "press", key: "a" }] } }, "config.actions[0].type"],
  [{ config: { actions: Array(4).fill({ type: "wait", milliseconds: 10_000 }) } }, "config.actions"],
  [{ config: { viewport: { width: 10, height: 500 } } }, "config.viewport.width"],
  [{ config: { cookies: [{ host: "a.example", name: "s", value: "1; domain=x" }] } }, "config.cookies[0].value"],
  [
    { config: { cookies: Array(3).fill({ host: "a.example", name: "s", value: "v".repeat(4_000) }) } },
    "config.cookies",
  ],
  [{ config: { cookies: [{ host: "a.example:99999", name: "s", value: "1" }] } }, "config.cookies[0].host"],
  [{ config: { cookies: [{ host: "a.example/path", name: "s", value: "1" }] } }, "config.cookies[0].host"],
  [{ timeout_seconds: 300 }, "timeout_seconds"],
  [{ format: "text" }, "format"],
])("%j is refused by its name", async (body, path) => {
  const url = path === "url" ? {} : { url: "http://a.example/" };
  expect(await scrape({ ...url, ...body })).toMatchObject({
    status: 400,
    body: { code: "VALIDATION_ERROR", details: { faults: [{ in: "body", path }] } },
  });
});

test.each([{ mobile: true }, { viewport: { width: 800, height: 600 } }, { actions: [{ type: "scroll" }] }])(
  "%j without a browser is refused",
  async (config) => {
    const answer = await scrape({ url: "http://a.example/", config });
    expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
    expect(answer.body.error).toContain(`${Object.keys(config)[0]} is for pages that are opened in a browser`);
  },
);

test("a URL that is not public is refused", async () => {
  expect(await scrape({ url: "http://127.0.0.1/" })).toMatchObject({ status: 403, body: { code: "URL_BLOCKED" } });
});
