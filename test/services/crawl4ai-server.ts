/**
 * A stand-in for Crawl4AI's server, with the answers of version 0.9.2 as they were recorded (Debian's Chromium): their
 * fields, statuses and messages. What its browser would do with a page is the test's to say.
 */
import { type DoubleAnswer, httpDouble, type ReceivedRequest } from "./http-double.ts";

export const CRAWL4AI_VERSION = "0.9.2";
export const CRAWL4AI_TOKEN = "token-of-the-stand-in";

/** What became of a page in the server's browser. */
export interface StandInPage {
  html?: string;
  /** How the function that was sent as `wait_for` would have ended; null: it could not be run. */
  ends?: "ready" | "late" | "invalid" | "large" | null;
  /** The document in the browser at the end; the URL that was asked for where not given. */
  documentUrl?: string;
  /** `location.href` at the end. */
  redirectedUrl?: string;
  status?: number;
  headers?: Readonly<Record<string, string>>;
  success?: boolean;
  error?: string;
}

type Answer = DoubleAnswer | "hang up" | "stall";

export const RECORDED = {
  noToken: { status: 401, headers: { "www-authenticate": "Bearer" }, body: { detail: "Authentication required" } },
  failed: { status: 500, body: { error: "Internal server error", correlation_id: "08ad0733a888" } },
  privateTarget: { status: 400, body: { detail: "URL blocked (SSRF protection): URL blocked" } },
  forbiddenField: {
    status: 400,
    body: {
      detail: "Rejected request: field 'js_code' is not permitted on CrawlerRunConfig from an untrusted request",
    },
  },
  malformed: {
    status: 422,
    body: {
      detail: [{ type: "list_type", loc: ["body", "urls"], msg: "Input should be a valid list", input: "x" }],
    },
  },
  antiBot:
    "Blocked by anti-bot protection: Structural: minimal_text, no_content_elements, script_heavy_shell " +
    "(184 bytes, 2 chars visible)",
  /** The server's own proxy, where a host does not resolve, cannot be reached or is private. */
  blockedByGuard: {
    html:
      '<html><head><meta name="color-scheme" content="light dark"></head><body><pre style="word-wrap: break-word; ' +
      'white-space: pre-wrap;">URL blocked</pre></body></html>',
    status: 403,
    headers: { "content-length": "11" },
    success: false,
    error: "Blocked by anti-bot protection: HTTP 403 with HTML content (162 bytes)",
  },
  /** Of every page, once the server's Chromium has ended: `/health` stays well, and no other one is started. */
  browserEnded:
    "Unexpected error in _crawl_web at line 613 in _crawl_web (crawl4ai/async_crawler_strategy.py):\n" +
    "Error: Browser.new_context: Target page, context or browser has been closed",
  waitFailed:
    "Unexpected error in _crawl_web at line 994 in _crawl_web (crawl4ai/async_crawler_strategy.py):\n" +
    "Error: Wait condition failed: Timeout after 3000ms waiting for selector '#never'",
} as const;

type Outcome = StandInPage | { answer: Answer };

export interface StandIn {
  url: string;
  requests: ReceivedRequest[];
}

interface Asked {
  urls: string[];
  browser_config: { params: { user_agent_generator_config?: unknown } };
  crawler_config: { params: { wait_for: string } };
}

/** @param page what becomes of a page, or the answer to the whole call */
export async function crawl4AiServer(
  page: (url: string, asked: Asked) => Outcome | Promise<Outcome>,
  { version = CRAWL4AI_VERSION }: { version?: string | null } = {},
): Promise<StandIn> {
  return await httpDouble(async (request) => {
    if (request.path === "/health") {
      return { body: { status: "ok", timestamp: 1795895404.12, ...(version === null ? {} : { version }) } };
    }
    if (request.headers["authorization"] !== `Bearer ${CRAWL4AI_TOKEN}`) return RECORDED.noToken;
    const asked = request.body as Asked;
    const [url = ""] = asked.urls;
    const outcome = await page(url, asked);
    if ("answer" in outcome) return outcome.answer;
    const lines = [resultOf(url, outcome, asked.crawler_config.params.wait_for), { status: "completed" }];
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    return { headers: { "content-type": "application/x-ndjson" }, body };
  });
}

function resultOf(url: string, page: StandInPage, waitFor: string): object {
  const { html = "", ends = "ready", documentUrl = url, redirectedUrl = documentUrl } = page;
  const attribute = /data-strandline-[0-9a-f]+/.exec(waitFor)?.[0];
  const mark = ends === null ? "" : ` ${attribute}="${ends} ${encodeURIComponent(documentUrl)}"`;
  return resultLine(url, { ...page, html: html.replace("<html", `<html${mark}`), redirectedUrl });
}

const HTML_HEADERS = { "content-type": "text/html; charset=utf-8" };

/** The line of one URL. */
export function resultLine(
  url: string,
  { html = "", success = true, status = 200, headers = HTML_HEADERS, error = "", redirectedUrl = url }: StandInPage,
): object {
  const reached = html !== "";
  return {
    url,
    html,
    fit_html: null,
    success,
    cleaned_html: null,
    media: {},
    links: { internal: [], external: [] },
    downloaded_files: null,
    extracted_content: null,
    metadata: null,
    error_message: error,
    session_id: null,
    response_headers: reached ? headers : null,
    status_code: reached ? status : null,
    redirected_url: reached ? redirectedUrl : null,
    redirected_status_code: reached ? status : null,
    crawl_stats: null,
    markdown: null,
    server_memory_mb: 163.8203125,
  };
}
