/** The media API with its browser behind the queue, on pages of a local site. */
import { Writable } from "node:stream";
import type { Context, SQSEvent } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { api } from "../../../../functions/media-api/handler.ts";
import { dependencies } from "../../../../functions/render-media/dependencies.ts";
import { handler } from "../../../../functions/render-media/handler.ts";
import { callApi, proxyEvent, type TestAnswer } from "../../../services/api.ts";
import { type Site, startSite } from "../../../sites/site.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

const html = (body: string) => ({ headers: { "content-type": "text/html; charset=utf-8" }, body });
let site: Site;
let setup: ApiSetup;
const over = new AbortController();
let consuming: Promise<void>;

beforeAll(async () => {
  site = await startSite({
    "/page":
      html(`<title>Page</title><body style="margin:0"><div style="height:3000px;background:linear-gradient(red,blue)">
      <h1>Harbour</h1><img src="/a.svg" width="100" height="100"></div><script>window.shells = [1, 2, 3]</script>`),
    "/a.svg": {
      headers: { "content-type": "image/svg+xml" },
      body: `<svg xmlns="http://www.w3.org/2000/svg"><rect width="100" height="100"/></svg>`,
    },
    "/long": html(`<body style="margin:0"><div style="height:100000px">long</div>`),
    "/late": html(`<script>setTimeout(() => { document.body.innerHTML = "<p id=late>here</p>" }, 800)</script>`),
    "/button": html(`<button onclick="location.href = '/clicked'">go</button>`),
    "/moved": { status: 302, headers: { location: "/page" } },
    "/leaves": html(`<p>here</p><script>location.href = "/elsewhere"</script>`),
    "/robots.txt": { headers: { "content-type": "text/plain" }, body: "User-agent: *\nDisallow: /secret" },
    "/secret": html("<p>secret</p>"),
    "/data.json": { headers: { "content-type": "application/json" }, body: "{}" },
  });
  setup = await setUpApi({ ACCESS__ALLOW_HOSTS: site.host, RATE_LIMIT__DEFAULT_RPS: "100" });
  consuming = consume();
});
afterAll(async () => {
  over.abort();
  await consuming;
  await dependencies().chromium.close();
  await setup.close();
  await site.close();
});

/** What is left to whoever waits for an answer once the queue delivers, in ms; a queue may be late. */
let patienceMs = 60_000;
beforeEach(() => {
  patienceMs = 60_000;
});

let delivered = 0;
/** Delivers what comes to the queue, as Lambda would. */
async function consume(): Promise<void> {
  while (!over.signal.aborted) {
    for (const message of (await setup.aws.receive("media", 1)) as { deadline: number }[]) {
      const deadline = Math.min(message.deadline, Date.now() + patienceMs);
      const record = {
        messageId: "m",
        receiptHandle: "r",
        body: JSON.stringify({ ...message, deadline }),
        attributes: { ApproximateReceiveCount: "1" },
        eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:media",
      };
      await handler({ Records: [record] } as unknown as SQSEvent, { getRemainingTimeInMillis: () => 60_000 });
      delivered += 1;
    }
  }
}

const ask = (path: string, json: object, key = setup.keys.admin): Promise<TestAnswer> =>
  callApi(api, { path: `/api/v1/${path}`, json, key });

async function download(url: string): Promise<Buffer> {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

test("a page that nobody waits for any more is closed", async () => {
  const before = delivered;
  const asked = site.paths().length;
  const client = new Writable({ write: (_chunk, _encoding, done) => done() });
  const json = { url: `${site.origin}/page?left`, wait_for: "#never" };
  const event = proxyEvent({ path: "/api/v1/pdf", json, key: setup.keys.admin });
  const answering = api.handler(event, client as never, { getRemainingTimeInMillis: () => 29_000 } as Context);
  await expect.poll(() => site.paths().slice(asked), { timeout: 120_000 }).toContain("/a.svg");
  client.destroy();
  await answering;
  // it would wait for 25 s
  await expect.poll(() => delivered - before, { timeout: 12_000 }).toBe(1);
});

describe("a screenshot", () => {
  test("holds the whole page, and its link works", async () => {
    const { status, body } = await ask("screenshot", { url: `${site.origin}/page`, wait_seconds: 0 });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      url: `${site.origin}/page`,
      final_url: `${site.origin}/page`,
      status_code: 200,
      content_type: "image/png",
      width: 1280,
      height: 3000,
      truncated: false,
      complete: true,
      navigations: [],
    });
    const png = await download(body.download_url);
    expect(png.length).toBe(body.size_bytes);
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1280, 3000]);
    expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now() + 3_000_000);
    // once by the fetcher, and never by the browser
    expect(site.paths().filter((path) => path === "/page")).toHaveLength(1);
    expect(site.paths()).toContain("/a.svg");
  });

  test("of the window alone, in another format, after a redirect", async () => {
    const wanted = { url: `${site.origin}/moved`, full_page: false, format: "jpeg", wait_seconds: 0 };
    const { body } = await ask("screenshot", wanted);
    expect(body).toMatchObject({
      final_url: `${site.origin}/page`,
      width: 1280,
      height: 800,
      content_type: "image/jpeg",
    });
    expect((await download(body.download_url)).subarray(0, 2).toString("hex")).toBe("ffd8");
  });

  test("is of a window of the size that is asked for, after what is done in it", async () => {
    const viewport = { width: 500, height: 400 };
    const wanted = { url: `${site.origin}/button`, full_page: false, viewport, wait_seconds: 0 };
    const { body } = await ask("screenshot", { ...wanted, actions: [{ type: "click", selector: "button" }] });
    expect(body).toMatchObject({ width: 500, height: 400, navigations: [`${site.origin}/clicked`] });
    const failed = await ask("screenshot", { ...wanted, actions: [{ type: "click", selector: "#none" }] });
    expect(failed).toMatchObject({ status: 422, body: { code: "ACTION_FAILED", details: { path: "actions" } } });
  });

  test("of an endless page ends where pictures do, and says so", async () => {
    const { body } = await ask("screenshot", { url: `${site.origin}/long`, format: "webp", wait_seconds: 0 });
    expect(body).toMatchObject({ height: 16_384, truncated: true, content_type: "image/webp" });
  });

  test("of a page that replaces itself shows the page, and tells what it wanted", async () => {
    const { body } = await ask("screenshot", { url: `${site.origin}/leaves`, wait_seconds: 0 });
    expect(body.navigations).toEqual([`${site.origin}/elsewhere`]);
    expect(site.paths()).not.toContain("/elsewhere");
  });
});

test("a PDF is one", async () => {
  const { status, body } = await ask("pdf", { url: `${site.origin}/page`, wait_seconds: 0 });
  expect(status).toBe(200);
  expect(body).toMatchObject({ content_type: "application/pdf", width: null });
  const pdf = await download(body.download_url);
  expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
  expect(pdf.length).toBe(body.size_bytes);
});

describe("scripts", () => {
  test("tell what they return, each by itself", async () => {
    const { status, body } = await ask("execute-js", {
      url: `${site.origin}/page`,
      scripts: [
        "window.shells.length",
        "const kept = { title: document.title }; kept",
        "await fetch('/a.svg').then((answer) => answer.status)",
        "kept.title + '!'",
        "throw new Error('on the rocks')",
        "undefined",
        "window",
        "10n",
        "'x'.repeat(200000)",
        "Array.from({ length: 200000 }, () => 0)",
        "syntax error here",
        "Promise.reject(new TypeError('no'))",
      ],
    });
    expect(status).toBe(200);
    const outcomes = body.results.map((each: { success: boolean; result: unknown; error: string | null }) =>
      each.success ? each.result : (each.error ?? "").split("\n")[0],
    );
    expect(outcomes).toEqual([
      3,
      { title: "Page" },
      200,
      "Page!",
      "Error: on the rocks",
      null,
      expect.stringMatching(/circular|security|cross-origin/i),
      expect.stringMatching(/no JSON value: 10n/),
      expect.stringMatching(/200002 characters/),
      expect.stringMatching(/400001 characters/),
      expect.stringMatching(/SyntaxError/),
      "TypeError: no",
    ]);
  });

  test("that never end are ended, and the others still tell", async () => {
    patienceMs = 10_000;
    const scripts = ["1 + 1", "new Promise(() => {})", "2 + 2"];
    const { status, body } = await ask("execute-js", { url: `${site.origin}/page`, scripts });
    expect(status).toBe(200);
    expect(body.results.map(({ success }: { success: boolean }) => success)).toEqual([true, false, true]);
    expect(body.results[1].error).toMatch(/share of the time/);
  });

  test("need the admin scope", async () => {
    const { status, body } = await ask("execute-js", { url: site.origin, scripts: ["1"] }, setup.keys.write);
    expect([status, body.code]).toEqual([403, "FORBIDDEN"]);
  });
});

describe("waiting", () => {
  test("for a selector", async () => {
    const wanted = { url: `${site.origin}/late`, wait_for: "#late", scripts: ["document.body.textContent"] };
    const { body } = await ask("execute-js", wanted);
    expect(body.results[0]).toMatchObject({ success: true, result: "here" });
  });

  test.each([
    ["p[[", 400, "WAIT_FOR_INVALID"],
    ["#never", 422, "WAIT_FOR_TIMEOUT"],
  ])("for %s is answered %i", async (wait_for, status, code) => {
    patienceMs = 10_000;
    const answer = await ask("pdf", { url: `${site.origin}/page`, wait_for, wait_seconds: 0 });
    expect([answer.status, answer.body.code, answer.body.details.path]).toEqual([status, code, "wait_for"]);
  });
});

test("a script may hold any character", async () => {
  const scripts = ["'\u{1F41F}'.length", "'\uFFFF'.charCodeAt(0)"];
  const { body } = await ask("execute-js", { url: `${site.origin}/page`, scripts });
  expect(body.results.map(({ result }: { result: unknown }) => result)).toEqual([2, 0xffff]);
});

describe("bad input", () => {
  const url = "https://example.com/";
  test.each([
    ["screenshot", { url, wait_seconds: -1 }, "wait_seconds"],
    ["screenshot", { url, wait_seconds: 11 }, "wait_seconds"],
    ["screenshot", { url, format: "gif" }, "format"],
    ["screenshot", { url, colour: true }, "colour"],
    ["screenshot", {}, "url"],
    ["pdf", { url, full_page: true }, "full_page"],
    ["pdf", { url, wait_for: "" }, "wait_for"],
    ["execute-js", { url, scripts: [] }, "scripts"],
    ["execute-js", { url, scripts: [""] }, "scripts[0]"],
    ["execute-js", { url, scripts: Array(21).fill("1") }, "scripts"],
    ["execute-js", { url, scripts: ["1"], wait_seconds: 1 }, "wait_seconds"],
  ])("%s %j is refused by name", async (path, body, field) => {
    const answer = await ask(path, body);
    expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.body.details.faults.map((fault: { path: string }) => fault.path)).toContain(field);
  });

  test("scripts that fit no message are refused as too large", async () => {
    const scripts = Array.from({ length: 12 }, () => "x".repeat(100_000));
    expect(await ask("execute-js", { url, scripts })).toMatchObject({
      status: 413,
      body: { code: "PAYLOAD_TOO_LARGE" },
    });
  });

  test.each([
    ["no URL", 400, "URL_INVALID"],
    ["http://10.0.0.1/", 403, "URL_BLOCKED"],
    ["SITE/secret", 403, "ROBOTS_DENIED"],
    ["SITE/missing", 502, "HTTP_404"],
    ["SITE/data.json", 422, "UNSUPPORTED_TYPE"],
  ])("a page at %s is answered %i %s", async (page, status, code) => {
    const answer = await ask("screenshot", { url: page.replace("SITE", site.origin), wait_seconds: 0 });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    if (code.startsWith("URL_")) expect(answer.body.details.path).toBe("url");
  });

  test("robots.txt may be left aside where the caller answers for it", async () => {
    const wanted = { url: `${site.origin}/secret`, respect_robots_txt: false, scripts: ["document.body.textContent"] };
    expect((await ask("execute-js", wanted)).body.results[0].result).toBe("secret");
  });
});
