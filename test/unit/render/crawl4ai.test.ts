/** The adapter against the answers of a real server, as a stand-in gives them. */
import { expect, test } from "vitest";
import { checkCrawl4Ai, createCrawl4AiRenderer } from "../../../shared/render/crawl4ai.ts";
import type { RenderOptions } from "../../../shared/render/renderer.ts";
import {
  CRAWL4AI_TOKEN,
  CRAWL4AI_VERSION,
  crawl4AiServer,
  RECORDED,
  type StandInPage,
} from "../../services/crawl4ai-server.ts";

const DOCUMENT = {
  url: "https://site.test/page",
  status: 200,
  headers: [],
  mimeType: "text/html",
  text: "<p>as fetched</p>",
};
const HTML = '<!DOCTYPE html><html lang="en"><body><p>rendered</p></body></html>';

const failed = (error: string): StandInPage => ({ success: false, error });

type Outcome = StandInPage | { answer: Parameters<typeof answerWith>[0] };
const answerWith = (
  answer: Extract<ReturnType<Parameters<typeof crawl4AiServer>[0]>, { answer: unknown }>["answer"],
) => ({
  answer,
});

async function render(
  outcome: Outcome,
  { timeoutMs = 5_000, ...options }: Partial<RenderOptions> = {},
  longestMs = 60_000,
) {
  const server = await crawl4AiServer(() => outcome);
  const renderer = createCrawl4AiRenderer({
    url: `${server.url}/`,
    token: CRAWL4AI_TOKEN,
    timeoutMs: longestMs,
    userAgent: "strandline/test",
  });
  return { rendering: renderer.render(DOCUMENT, { headers: {}, timeoutMs, ...options }), requests: server.requests };
}

test("asks with its token for the DOM of one page, waiting as the own browser does, and takes it", async () => {
  const { rendering, requests } = await render({ html: HTML }, { waitFor: "#app p", timeoutMs: 30_000 });
  expect(await rendering).toEqual({ html: HTML, navigations: [], shortcoming: null });
  const [health, crawl] = requests;
  expect(health).toMatchObject({ method: "GET", path: "/health" });
  expect(crawl).toMatchObject({
    method: "POST",
    path: "/crawl/stream",
    headers: { authorization: `Bearer ${CRAWL4AI_TOKEN}` },
    body: {
      urls: [DOCUMENT.url],
      browser_config: { params: { user_agent: "strandline/test", accept_downloads: false, text_mode: true } },
      crawler_config: {
        params: {
          cache_mode: "bypass",
          wait_until: "networkidle",
          prefetch: true,
          max_retries: 0,
          page_timeout: 25_000,
          wait_for: expect.stringMatching(/^js:.*"#app p"/s),
          wait_for_timeout: 26_000,
        },
      },
    },
  });
});

test.each([
  ["", undefined],
  ["#app", undefined],
  ["", "a 'quoted' \"selector\" `with` $all"],
])("what it runs in the page is a script that parses (%s %s)", async (_what, waitFor) => {
  const { rendering, requests } = await render({ html: HTML }, { waitFor });
  await rendering;
  const body = requests[1]?.body as { crawler_config: { params: { wait_for: string } } } | undefined;
  const script = body?.crawler_config.params.wait_for.slice("js:".length);
  const run = new Function("document", "performance", `return ${script}`);
  const attributes: Record<string, string> = {};
  const root = {
    outerHTML: "<html></html>",
    setAttribute: (name: string, value: string) => Object.assign(attributes, { [name]: value }),
  };
  const document = {
    body: { innerText: "some text" },
    documentElement: root,
    querySelector: () => ({}),
    querySelectorAll: () => [],
  };
  const performance = { now: () => 0, getEntriesByType: () => [{ name: 'https://site.test/a"b' }] };
  expect(run(document, performance)()).toBe(true);
  expect(Object.values(attributes)).toEqual([`ready ${encodeURIComponent('https://site.test/a"b')}`]);
});

test("no time over the server's own limit is asked for, so that the page says itself how the waiting ended", async () => {
  const { requests, rendering } = await render({ html: HTML }, { timeoutMs: 90_000 }, 120_000);
  await rendering;
  expect(requests[1]?.body).toMatchObject({
    crawler_config: { params: { page_timeout: 59_000, wait_for_timeout: 60_000 } },
  });
});

test("the job's own headers are not sent, since Crawl4AI would show them to every host", async () => {
  const { rendering, requests } = await render({ html: HTML }, { headers: { "x-secret": "s" } });
  await rendering;
  expect(JSON.stringify(requests)).not.toContain("x-secret");
});

test("pages of one job share a place in the server's browser, by which it tells contexts apart, and others do not", async () => {
  const placeOf = async (jobId: string | undefined) => {
    const { rendering, requests } = await render({ html: HTML }, { jobId });
    await rendering;
    const body = requests[1]?.body as { crawler_config: { params: { geolocation?: { params: unknown } } } } | undefined;
    return body?.crawler_config.params.geolocation;
  };
  const place = { type: "GeolocationConfig", params: { latitude: 0, longitude: 0, accuracy: expect.any(Number) } };
  const [one, again, other] = [await placeOf("job-1"), await placeOf("job-1"), await placeOf("job-2")];
  expect(one).toEqual(place);
  expect(again).toEqual(one);
  expect(other).toEqual(place);
  expect(other).not.toEqual(one);
  // nobody's page shares with nobody
  expect(await placeOf(undefined)).not.toEqual(await placeOf(undefined));
});

test.each(["Browser.new_context", "BrowserContext.new_page"])(
  "a server whose browser has ended (%s) is asked for another one",
  async (call) => {
    const asked: unknown[] = [];
    const server = await crawl4AiServer((_url, { browser_config }) => {
      const { user_agent_generator_config: which } = browser_config.params;
      asked.push(which);
      if (which === undefined) return failed(RECORDED.browserEnded.replace("Browser.new_context", call));
      return { html: HTML };
    });
    const options = { url: server.url, token: CRAWL4AI_TOKEN, timeoutMs: 60_000, userAgent: "strandline/test" };
    const renderer = createCrawl4AiRenderer(options);
    const page = () => renderer.render(DOCUMENT, { headers: {}, timeoutMs: 5_000 });
    const ended = { code: "RENDERER_UNAVAILABLE", retryable: true, message: expect.stringContaining("browser") };
    // both were under way in the browser that ended: there is one other
    const [first, second] = await Promise.allSettled([page(), page()]);
    expect([first, second]).toMatchObject([{ reason: ended }, { reason: ended }]);
    expect(await page()).toMatchObject({ html: HTML });
    expect(asked).toEqual([undefined, undefined, { browser: 1 }]);
  },
);

test("a host that the server's own guard did not let through is no answer of the site", async () => {
  const { rendering } = await render({ ...RECORDED.blockedByGuard, ends: null });
  await expect(rendering).rejects.toMatchObject({
    code: "RENDER_FAILED",
    message: expect.stringContaining("guard"),
    retryable: true,
    siteAnswer: undefined,
  });
});

test.each(["application/pdf", "image/png", "application/zip"])(
  "%s in answer to the second request is not taken for the page",
  async (type) => {
    const { rendering } = await render({ html: HTML, headers: { "content-type": `${type}; x=y` } });
    await expect(rendering).rejects.toMatchObject({
      code: "RENDER_FAILED",
      message: expect.stringContaining(type),
      retryable: false,
    });
  },
);

test("a page that it was led away from has no DOM, and tells where to", async () => {
  const elsewhere = { html: HTML, documentUrl: "https://other.test/" };
  const { rendering } = await render(elsewhere);
  expect(await rendering).toEqual({ html: null, navigations: ["https://other.test/"], shortcoming: null });
  // it left while the waiting was under way
  const { rendering: late } = await render({ html: HTML, ends: null, redirectedUrl: "https://other.test/late" });
  expect(await late).toEqual({ html: null, navigations: ["https://other.test/late"], shortcoming: null });
});

test.each([
  ["by its history", { redirectedUrl: "https://site.test/pushed/here" }],
  ["to a fragment", { documentUrl: `${DOCUMENT.url}#top` }],
])("a page that changes its URL %s is the same page", async (_what, page) => {
  const { rendering } = await render({ html: HTML, ...page });
  expect(await rendering).toEqual({ html: HTML, navigations: [], shortcoming: null });
});

test("a small page that an anti-bot check takes for a failure is a page", async () => {
  const { rendering } = await render({ html: HTML, success: false, error: RECORDED.antiBot });
  expect(await rendering).toEqual({ html: HTML, navigations: [], shortcoming: null });
});

test.each([
  ["late", "WAIT_FOR_TIMEOUT"],
  ["invalid", "WAIT_FOR_INVALID"],
] as const)("a selector that ends %s leaves the DOM as it was, with its code", async (ends, code) => {
  const { rendering } = await render({ html: HTML, ends }, { waitFor: "#never" });
  expect(await rendering).toMatchObject({ html: HTML, shortcoming: { code } });
  const { rendering: silent } = await render({ html: HTML, ends: "late" });
  expect(await silent).toMatchObject({ html: HTML, shortcoming: null });
});

test.each([
  [429, true],
  [503, true],
  [404, false],
  [403, false],
])("a %i to the second request is not taken for the page", async (status, retryable) => {
  const { rendering } = await render({ html: HTML, status, success: status !== 429 });
  await expect(rendering).rejects.toMatchObject({
    code: "RENDER_FAILED",
    message: expect.stringContaining(String(status)),
    retryable,
    siteAnswer: { status, headers: [["content-type", "text/html; charset=utf-8"]] },
  });
});

test.each([
  ["is overloaded", answerWith({ status: 429, body: { detail: "Too Many Requests" } }), "RENDERER_UNAVAILABLE", true],
  ["fails as a whole", answerWith(RECORDED.failed), "RENDERER_UNAVAILABLE", true],
  ["wants another token", answerWith(RECORDED.noToken), "RENDERER_UNAVAILABLE", false],
  ["takes the target for private", answerWith(RECORDED.privateTarget), "RENDER_FAILED", false],
  ["refuses a field", answerWith(RECORDED.forbiddenField), "RENDER_FAILED", false],
  ["refuses the request", answerWith(RECORDED.malformed), "RENDER_FAILED", false],
  ["cannot wait", failed(RECORDED.waitFailed), "RENDER_TIMEOUT", false],
  ["cannot reach the page", failed("Error: Page.goto: net::ERR_CONNECTION_REFUSED"), "RENDER_FAILED", false],
  [
    "lost its page",
    failed("Error: Page.content: Target page, context or browser has been closed"),
    "RENDER_CRASHED",
    true,
  ],
  ["could not look into the page", { html: HTML, ends: null }, "RENDER_FAILED", false],
  ["ends without a result", answerWith({ body: '{"status": "completed"}\n' }), "RENDERER_UNAVAILABLE", true],
  [
    "breaks off in mid-page",
    answerWith({ body: '{"url": "https://site.test/page", "html": "<ht' }),
    "RENDERER_UNAVAILABLE",
    true,
  ],
  ["sends no JSON", answerWith({ body: "<html>gateway</html>" }), "RENDERER_UNAVAILABLE", true],
  ["hangs up", answerWith("hang up"), "RENDERER_UNAVAILABLE", true],
  [
    "redirects",
    answerWith({ status: 302, headers: { location: "http://127.0.0.1:1/" } }),
    "RENDERER_UNAVAILABLE",
    true,
  ],
  ["sends too large a DOM", { html: `<html><body>${"x".repeat(20_000_001)}</body></html>` }, "RENDER_TOO_LARGE", false],
  ["found the DOM too large", { html: "<html><body></body></html>", ends: "large" }, "RENDER_TOO_LARGE", false],
  ["sends 89 MB", answerWith({ body: "x".repeat(89_000_000) }), "RENDER_TOO_LARGE", false],
] satisfies [string, Outcome, string, boolean][])(
  "a server that %s is told by its code",
  async (_what, outcome, code, retryable) => {
    const { rendering } = await render(outcome);
    await expect(rendering).rejects.toMatchObject({ name: "RenderError", code, retryable });
  },
);

test("a server that stalls is left after the page's time, to be asked again, and at once when nobody waits", async () => {
  const { rendering } = await render(answerWith("stall"), { timeoutMs: 200 });
  await expect(rendering).rejects.toMatchObject({ code: "RENDER_TIMEOUT", retryable: true });
  const { rendering: stopped } = await render(answerWith("stall"), { signal: AbortSignal.timeout(100) });
  await expect(stopped).rejects.toMatchObject({ code: "RENDER_STOPPED" });
});

test("nobody there is a fault that may pass", async () => {
  const unreachable = { url: "http://127.0.0.1:1", token: "", timeoutMs: 30_000, userAgent: "x" };
  const rendering = createCrawl4AiRenderer(unreachable).render(DOCUMENT, { headers: {}, timeoutMs: 30_000 });
  await expect(rendering).rejects.toMatchObject({ code: "RENDERER_UNAVAILABLE", retryable: true });
});

test.each(["0.8.5", "0.7.4", null])(
  "a server of version %s is asked for nothing, and the reason is said",
  async (version) => {
    const { url, requests } = await crawl4AiServer(() => ({ html: HTML }), { version });
    const renderer = createCrawl4AiRenderer({ url, token: CRAWL4AI_TOKEN, timeoutMs: 60_000, userAgent: "x" });
    const refused = {
      code: "RENDERER_UNAVAILABLE",
      retryable: false,
      message: expect.stringContaining("0.9 or newer"),
    };
    await expect(renderer.render(DOCUMENT, { headers: {}, timeoutMs: 5_000 })).rejects.toMatchObject(refused);
    expect(requests.map(({ path }) => path)).toEqual(["/health"]);
  },
);

test.each([CRAWL4AI_VERSION, "0.10.0", "1.0.0"])("a server of version %s is fit", async (version) => {
  const { url } = await crawl4AiServer(() => ({ html: HTML }), { version });
  await expect(checkCrawl4Ai({ url })).resolves.toBeUndefined();
});
