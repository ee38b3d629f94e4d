/** The adapter against a double of the answers that Crawl4AI documents. */
import { expect, test } from "vitest";
import { createCrawl4AiRenderer } from "../../../shared/render/crawl4ai.ts";
import type { RenderOptions } from "../../../shared/render/renderer.ts";
import { type DoubleAnswer, httpDouble } from "../../services/http-double.ts";

const DOCUMENT = {
  url: "https://site.test/page",
  status: 200,
  headers: [],
  mimeType: "text/html",
  text: "<p>as fetched</p>",
};
const RESULT = {
  url: DOCUMENT.url,
  html: "<html><body><p>rendered</p></body></html>",
  success: true,
  cleaned_html: "<p>rendered</p>",
  media: {},
  links: { internal: [], external: [] },
  markdown: { raw_markdown: "rendered" },
  metadata: {},
  error_message: "",
  status_code: 200,
  redirected_url: DOCUMENT.url,
};
const answerOf = (result: object) => ({
  body: { success: true, results: [{ ...RESULT, ...result }], server_processing_time_s: 0.8 },
});

async function render(
  answer: DoubleAnswer | "hang up" | "stall",
  { timeoutMs = 5_000, ...options }: Partial<RenderOptions> = {},
) {
  const double = await httpDouble(() => answer);
  const renderer = createCrawl4AiRenderer({ url: `${double.url}/`, timeoutMs: 60_000, userAgent: "strandline/test" });
  return { rendering: renderer.render(DOCUMENT, { headers: {}, timeoutMs, ...options }), requests: double.requests };
}

test("asks for one page as documented, and takes its HTML", async () => {
  const { rendering, requests } = await render(answerOf({}), { waitFor: "#app p", timeoutMs: 30_000 });
  expect(await rendering).toEqual({ html: RESULT.html, navigations: [], shortcoming: null });
  expect(requests).toEqual([
    expect.objectContaining({
      method: "POST",
      path: "/crawl",
      body: {
        urls: [DOCUMENT.url],
        browser_config: { type: "BrowserConfig", params: { headless: true, user_agent: "strandline/test" } },
        crawler_config: {
          type: "CrawlerRunConfig",
          params: { cache_mode: "bypass", page_timeout: 25_000, wait_for: "css:#app p" },
        },
      },
    }),
  ]);
});

test("the job's own headers are not sent, since Crawl4AI would show them to every host", async () => {
  const { rendering, requests } = await render(answerOf({}), { headers: { "x-secret": "s" } });
  await rendering;
  expect(JSON.stringify(requests)).not.toContain("x-secret");
});

test("a page that it was redirected from stays as it was fetched, and tells where to", async () => {
  const { rendering } = await render(answerOf({ redirected_url: "https://other.test/" }));
  expect(await rendering).toEqual({ html: DOCUMENT.text, navigations: ["https://other.test/"], shortcoming: null });
  const { rendering: same } = await render(answerOf({ redirected_url: `${DOCUMENT.url}#top` }));
  expect((await same).html).toBe(RESULT.html);
});

test.each([
  ["is overloaded", { status: 429, body: { detail: "Too Many Requests" } }, "RENDERER_UNAVAILABLE", true],
  ["is broken", { status: 500, body: { detail: "Crawl request failed" } }, "RENDERER_UNAVAILABLE", true],
  ["wants a token", { status: 401, body: { detail: "Not authenticated" } }, "RENDER_FAILED", false],
  ["refuses the request", { status: 422, body: { detail: [] } }, "RENDER_FAILED", false],
  [
    "says that the page failed",
    answerOf({ success: false, html: "", error_message: "net::ERR" }),
    "RENDER_FAILED",
    false,
  ],
  ["sends no HTML", answerOf({ html: "" }), "RENDER_FAILED", false],
  ["sends no result", { body: { success: true, results: [] } }, "RENDER_FAILED", false],
  ["sends no JSON", { body: "<html>gateway</html>" }, "RENDER_FAILED", false],
  ["hangs up", "hang up" as const, "RENDERER_UNAVAILABLE", true],
  ["redirects", { status: 302, headers: { location: "http://127.0.0.1:1/" } }, "RENDERER_UNAVAILABLE", true],
])("a server that %s is told by its code", async (_what, answer, code, retryable) => {
  const { rendering } = await render(answer);
  await expect(rendering).rejects.toMatchObject({ name: "RenderError", code, retryable });
});

test("a selector that does not appear is told as such", async () => {
  const failed = { success: false, html: "", error_message: "Wait condition failed: Timeout after 25000ms" };
  const { rendering } = await render(answerOf(failed), { waitFor: "#never" });
  await expect(rendering).rejects.toMatchObject({ code: "WAIT_FOR_TIMEOUT" });
});

test("a server that stalls is left after the page's time, and at once when nobody waits", async () => {
  const { rendering } = await render("stall", { timeoutMs: 200 });
  await expect(rendering).rejects.toMatchObject({ code: "RENDER_TIMEOUT" });
  const { rendering: stopped } = await render("stall", { signal: AbortSignal.timeout(100) });
  await expect(stopped).rejects.toMatchObject({ code: "RENDER_STOPPED" });
});

test("nobody there is a fault that may pass", async () => {
  const renderer = createCrawl4AiRenderer({ url: "http://127.0.0.1:1", timeoutMs: 30_000, userAgent: "x" });
  const rendering = renderer.render(DOCUMENT, { headers: {}, timeoutMs: 30_000 });
  await expect(rendering).rejects.toMatchObject({ code: "RENDERER_UNAVAILABLE", retryable: true });
});
