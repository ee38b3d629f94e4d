/**
 * Crawl4AI's server, 0.9 or newer, as renderer. `POST /crawl/stream` answers one line of JSON for each URL, with DOM
 * and message even where the page failed; `POST /crawl` answers such a page by a bare 500. It asks the site for the
 * page itself.
 * https://docs.crawl4ai.com/core/self-hosting/
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { z } from "zod";
import {
  CallFailed,
  type CallFault,
  callJson,
  type JsonCall,
  type JsonReply,
  jsonIfAny,
} from "../platform/json-client.ts";
import { COPY_SHADOW_ROOTS, LARGEST_DOM, LONGEST_SILENCE_MS, SHOWS_TEXT } from "./page-scripts.ts";
import {
  type FetchedDocument,
  RenderError,
  type RenderErrorCode,
  type RenderedPage,
  type Renderer,
} from "./renderer.ts";

export interface Crawl4AiOptions {
  url: string;
  /** `CRAWL4AI_API_TOKEN` of the server. */
  token: string;
  /** For one page, waiting in the server's own queue included. */
  timeoutMs: number;
  userAgent: string;
}

const resultSchema = z.looseObject({
  html: z.string().nullish(),
  success: z.boolean(),
  redirected_url: z.string().nullish(),
  redirected_status_code: z.number().nullish(),
  status_code: z.number().nullish(),
  response_headers: z.record(z.string(), z.string()).nullish().catch(null),
  error_message: z.string().nullish(),
});
type Result = z.infer<typeof resultSchema>;

const healthSchema = z.looseObject({ version: z.string() });

/** Of the answer: JSON writes a DOM of other scripts than Latin with up to three times its length. */
const LARGEST_ANSWER = 64 * 1024 * 1024;
/** What the server needs beside the page's own time. */
const OVERHEAD_MS = 5_000;
/** The function that waits ends before the server would end it, and says why. */
const SPARE_MS = 1_000;
/** It takes longer times for this one. */
const LONGEST_OF_SERVER_MS = 60_000;
const VERSION_TIMEOUT_MS = 5_000;
const LONGEST_REASON = 500;

export function createCrawl4AiRenderer(options: Crawl4AiOptions): Renderer {
  const endpoint = new URL(`${withoutSlash(options.url)}/crawl/stream`);
  let isFit: Promise<void> | undefined;
  let browser = 0;
  return {
    name: "crawl4ai",
    asksAgain: true,
    async render(document, { waitFor, timeoutMs, signal, jobId, actions = [], cookies = [], window }) {
      if (actions.length > 0 || cookies.length > 0 || window?.mobile) {
        const message =
          "Crawl4AI gets no actions, cookies and mobile windows from here: leave them out, or unset CRAWL4AI__URL";
        throw new RenderError("RENDER_FAILED", message);
      }
      isFit ??= checkCrawl4Ai(options);
      await isFit.catch((error: unknown) => {
        isFit = undefined;
        throw error;
      });
      const limit = Math.min(timeoutMs, options.timeoutMs);
      const own = Math.min(Math.max(1000, limit - OVERHEAD_MS), LONGEST_OF_SERVER_MS - SPARE_MS);
      const mark = `data-strandline-${randomBytes(8).toString("hex")}`;
      const asked = browser;
      const size = window && { viewport_width: window.width, viewport_height: window.height };
      const request = {
        urls: [document.url],
        browser_config: {
          type: "BrowserConfig",
          // text mode leaves out images, fonts and media, which cannot change the text
          params: {
            headless: true,
            text_mode: true,
            user_agent: options.userAgent,
            accept_downloads: false,
            ...size,
            ...otherBrowser(asked),
          },
        },
        crawler_config: {
          type: "CrawlerRunConfig",
          params: {
            cache_mode: "bypass",
            stream: true,
            // the DOM, and neither Markdown nor anything else that is made of it
            prefetch: true,
            max_retries: 0,
            wait_until: "networkidle",
            page_timeout: own,
            wait_for: `js:${readiness(mark, waitFor, own)}`,
            wait_for_timeout: own + SPARE_MS,
            geolocation: placeOf(jobId),
          },
        },
      };
      const headers = authorization(options.token);
      const limits = { timeoutMs: limit, maxBytes: LARGEST_ANSWER, signal };
      const reply = await ask({ method: "POST", url: endpoint, headers, body: request, ...limits });
      if (reply.status !== 200) throw refusal(reply);
      const result = resultOf(reply);
      if (!result.html && BROWSER_ENDED.test(result.error_message ?? "")) {
        browser = Math.max(browser, asked + 1);
        throw new RenderError("RENDERER_UNAVAILABLE", "Crawl4AI's browser has ended: another one is asked for");
      }
      return pageOf(result, document, mark, waitFor);
    },
  };
}

/**
 * Whether the server can be reached and is one that may be asked.
 * @throws RenderError
 */
export async function checkCrawl4Ai(
  { url }: Pick<Crawl4AiOptions, "url">,
  { timeoutMs = VERSION_TIMEOUT_MS, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<void> {
  const health = new URL(`${withoutSlash(url)}/health`);
  const reply = await ask({ method: "GET", url: health, timeoutMs, signal });
  if (reply.status !== 200) throw refusal(reply);
  const { data } = healthSchema.safeParse(jsonIfAny(reply));
  const [major = 0, minor = 0] = (data?.version ?? "").split(".").map((part) => Number.parseInt(part, 10) || 0);
  if (major > 0 || minor >= 9) return;
  const found = data === undefined ? "CRAWL4AI__URL names no Crawl4AI server" : `Crawl4AI is ${data.version}`;
  const why = "before 0.9 its pages reach private addresses and one page's DOM comes back under another's URL";
  throw new RenderError("RENDERER_UNAVAILABLE", `${found}: 0.9 or newer is needed, since ${why}`, { retryable: false });
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, "");

const authorization = (token: string): Record<string, string> =>
  token === "" ? {} : { authorization: `Bearer ${token}` };

/**
 * A function that the server runs in the page every 100 ms, until it answers true. It leaves in an attribute of the
 * root element how the waiting ended and which document it was: changes of the history change the page's URL, and not
 * that.
 * @param timeoutMs of the page, loading included
 */
function readiness(mark: string, waitFor: string | undefined, timeoutMs: number): string {
  const selector = JSON.stringify(waitFor ?? null);
  const patience = waitFor === undefined ? LONGEST_SILENCE_MS : timeoutMs;
  const over = `Date.now() - since >= ${patience} || performance.now() >= ${timeoutMs}`;
  return `(() => {
  const since = Date.now();
  return () => {
    const selector = ${selector};
    let end = "";
    try {
      const ready = selector === null ? ${SHOWS_TEXT} : document.querySelector(selector) !== null;
      if (ready) end = "ready";
    } catch {
      end = "invalid";
    }
    if (end === "" && !(${over})) return false;
    ${COPY_SHADOW_ROOTS}
    if (document.documentElement.outerHTML.length > ${LARGEST_DOM}) {
      end = "large";
      document.documentElement.replaceChildren(document.createElement("head"), document.createElement("body"));
    }
    const [loaded] = performance.getEntriesByType("navigation");
    const url = loaded ? loaded.name : location.href;
    document.documentElement.setAttribute("${mark}", (end || "late") + " " + encodeURIComponent(url));
    return true;
  };
})()`;
}

/**
 * The server keeps a browser that has ended, and gives it every page of the same settings. This one changes nothing of
 * a browser, and makes the server start another.
 */
const otherBrowser = (browser: number) => (browser === 0 ? {} : { user_agent_generator_config: { browser } });

const BROWSER_ENDED = /\.new_(context|page): Target page, context or browser has been closed/;

/**
 * The server's browser shares cookies and storage between all pages of one locale, time zone and place. Of these the
 * place shows the least: in what a script gets that asks for it.
 */
function placeOf(jobId: string = randomUUID()) {
  const accuracy = createHash("sha256").update(jobId).digest().readUIntBE(0, 6);
  return { type: "GeolocationConfig", params: { latitude: 0, longitude: 0, accuracy } };
}

async function ask(call: JsonCall): Promise<JsonReply> {
  try {
    return await callJson(call);
  } catch (cause) {
    if (!(cause instanceof CallFailed)) throw cause;
    const [code, message] = FAULTS[cause.fault];
    // the server may have had too much to do
    throw new RenderError(code, message, { cause, ...(cause.fault === "timeout" ? { retryable: true } : {}) });
  }
}

const UNREACHABLE = ["RENDERER_UNAVAILABLE", "Crawl4AI cannot be reached"] as const;
const FAULTS: Record<CallFault, readonly [RenderErrorCode, string]> = {
  timeout: ["RENDER_TIMEOUT", "Crawl4AI did not answer in time"],
  stopped: ["RENDER_STOPPED", "Nobody waits for the page any more"],
  "too large": ["RENDER_TOO_LARGE", `Crawl4AI's answer is over ${LARGEST_ANSWER} bytes`],
  unreachable: UNREACHABLE,
  lost: ["RENDERER_UNAVAILABLE", "Crawl4AI broke off its answer"],
  unreadable: UNREACHABLE,
};

function refusal({ status, body }: JsonReply): RenderError {
  if (status === 401 || status === 403) {
    const message = `Crawl4AI answered ${status}: CRAWL4AI__TOKEN must be the CRAWL4AI_API_TOKEN of the server`;
    return new RenderError("RENDERER_UNAVAILABLE", message, { retryable: false });
  }
  const why = `Crawl4AI answered ${status}: ${body.slice(0, LONGEST_REASON)}`;
  const mayPass = status === 429 || status >= 500 || (status >= 300 && status < 400);
  return new RenderError(mayPass ? "RENDERER_UNAVAILABLE" : "RENDER_FAILED", why);
}

/** The line of the page: lines follow that only say that the stream is complete. */
function resultOf({ body }: JsonReply): Result {
  for (const line of body.split("\n")) {
    if (line.trim() === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (cause) {
      throw new RenderError("RENDERER_UNAVAILABLE", "Crawl4AI's answer is no JSON, or was broken off", { cause });
    }
    const parsed = resultSchema.safeParse(value);
    if (parsed.success) return parsed.data;
  }
  throw new RenderError("RENDERER_UNAVAILABLE", "Crawl4AI ended its answer without a result");
}

function pageOf(result: Result, document: FetchedDocument, mark: string, waitFor: string | undefined): RenderedPage {
  const { html, redirected_url: finalUrl, response_headers: headers } = result;
  const status = result.redirected_status_code ?? result.status_code ?? document.status;
  if (status === 403 && headers?.["content-type"] === undefined && html?.includes(">URL blocked<")) {
    const why = "Crawl4AI's own guard did not let the page through: a host is private, or could not be reached";
    throw new RenderError("RENDER_FAILED", why, { retryable: true });
  }
  if (status >= 400 && status !== document.status) {
    const why = `The site answered ${status} when Crawl4AI asked it again`;
    const siteAnswer = { status, headers: Object.entries(headers ?? {}) };
    throw new RenderError("RENDER_FAILED", why, { retryable: status === 429 || status >= 500, siteAnswer });
  }
  if (!html) throw failureOf(result.error_message);
  const found = new RegExp(` ${mark}="(ready|late|invalid|large) ([^"]*)"`).exec(html);
  const [, end, encoded = ""] = found ?? [];
  const loadedUrl = found ? decodeURIComponent(encoded) : finalUrl;
  // what the browser followed is another page
  if (loadedUrl && isElsewhere(loadedUrl, document.url)) {
    return { html: null, navigations: [loadedUrl], shortcoming: null };
  }
  if (found === null) throw failureOf(result.error_message);
  const type = headers?.["content-type"] ?? "text/html";
  if (!/^text\/|xml/i.test(type)) {
    throw new RenderError("RENDER_FAILED", `The site answered ${type} when Crawl4AI asked it again`);
  }
  if (end === "large" || html.length > LARGEST_DOM)
    throw new RenderError("RENDER_TOO_LARGE", `The DOM is over ${LARGEST_DOM} characters`);
  const dom = html.slice(0, found.index) + html.slice(found.index + found[0].length);
  return { html: dom, navigations: [], shortcoming: waitFor === undefined ? null : missed(end, waitFor) };
}

function missed(end: string | undefined, waitFor: string): RenderError | null {
  if (end === "invalid") return new RenderError("WAIT_FOR_INVALID", `wait_for is no CSS selector: ${waitFor}`);
  if (end === "late") return new RenderError("WAIT_FOR_TIMEOUT", `Nothing matched wait_for (${waitFor}) in time`);
  return null;
}

/** Of a page without a DOM, or with one that nobody could look into. */
function failureOf(message: string | null | undefined): RenderError {
  // first comes where in the server's code it happened
  const why = (/Error: (.*)/s.exec(message ?? "")?.[1] ?? message ?? "").trim().slice(0, LONGEST_REASON);
  if (/crash|Target (page|closed)|has been closed/i.test(why)) {
    return new RenderError("RENDER_CRASHED", `The page went away: ${why}`);
  }
  if (/timeout/i.test(why)) return new RenderError("RENDER_TIMEOUT", `The page did not finish loading in time: ${why}`);
  return new RenderError("RENDER_FAILED", `Crawl4AI could not render the page: ${why || "without a reason"}`);
}

function isElsewhere(a: string, b: string): boolean {
  if (!URL.canParse(a)) return false;
  const [one, other] = [new URL(a), new URL(b)];
  one.hash = "";
  other.hash = "";
  return one.href !== other.href;
}
