/**
 * Crawl4AI's server as renderer: `POST /crawl {urls, browser_config, crawler_config}` answers `{success, results}` with
 * one result per URL; 429 and 5xx mean that it is overloaded or broken. It asks the site for the page itself.
 * https://docs.crawl4ai.com/core/self-hosting/
 */
import { z } from "zod";
import {
  CallFailed,
  type CallFault,
  callJson,
  type JsonCall,
  type JsonReply,
  jsonIfAny,
} from "../platform/json-client.ts";
import {
  type FetchedDocument,
  RenderError,
  type RenderErrorCode,
  type RenderedPage,
  type Renderer,
} from "./renderer.ts";

export interface Crawl4AiOptions {
  url: string;
  /** For one page, waiting in the server's own queue included. */
  timeoutMs: number;
  userAgent: string;
}

const answerSchema = z.looseObject({
  results: z
    .array(
      z.looseObject({
        success: z.boolean(),
        html: z.string().nullish(),
        redirected_url: z.string().nullish(),
        error_message: z.string().nullish(),
      }),
    )
    .length(1),
});

/** Of the JSON answer: it holds the page several times over, as HTML, cleaned, and as Markdown. */
const LARGEST_ANSWER = 64 * 1024 * 1024;
const LARGEST_DOM = 20_000_000;
/** What the server needs beside the page's own time. */
const OVERHEAD_MS = 5_000;
const LONGEST_REASON = 500;

export function createCrawl4AiRenderer({ url, timeoutMs: ownTimeoutMs, userAgent }: Crawl4AiOptions): Renderer {
  const endpoint = new URL(`${url.replace(/\/+$/, "")}/crawl`);
  return {
    name: "crawl4ai",
    asksAgain: true,
    async render(document, { waitFor, timeoutMs, signal, actions = [], cookies = [], window }) {
      if (actions.length > 0 || cookies.length > 0 || window?.mobile) {
        const message =
          "Crawl4AI gets no actions, cookies and mobile windows from here: leave them out, or unset CRAWL4AI__URL";
        throw new RenderError("RENDER_FAILED", message);
      }
      const limit = Math.min(timeoutMs, ownTimeoutMs);
      const size = window && { viewport_width: window.width, viewport_height: window.height };
      const browserParams = { headless: true, user_agent: userAgent, ...size };
      const request = {
        urls: [document.url],
        browser_config: { type: "BrowserConfig", params: browserParams },
        crawler_config: {
          type: "CrawlerRunConfig",
          params: {
            cache_mode: "bypass",
            page_timeout: Math.max(1000, limit - OVERHEAD_MS),
            ...(waitFor === undefined ? {} : { wait_for: `css:${waitFor}` }),
          },
        },
      };
      const limits = { timeoutMs: limit, maxBytes: LARGEST_ANSWER, signal };
      const reply = await ask({ method: "POST", url: endpoint, body: request, ...limits });
      if (reply.status !== 200) throw refusal(reply);
      return pageOf(reply, document, waitFor);
    },
  };
}

async function ask(call: JsonCall): Promise<JsonReply> {
  try {
    return await callJson(call);
  } catch (cause) {
    if (!(cause instanceof CallFailed)) throw cause;
    const [code, message] = FAULTS[cause.fault];
    throw new RenderError(code, message, { cause });
  }
}

const UNREACHABLE = ["RENDERER_UNAVAILABLE", "Crawl4AI cannot be reached"] as const;
const FAULTS: Record<CallFault, readonly [RenderErrorCode, string]> = {
  timeout: ["RENDER_TIMEOUT", "Crawl4AI did not answer in time"],
  stopped: ["RENDER_STOPPED", "Nobody waits for the page any more"],
  "too large": ["RENDER_TOO_LARGE", `Crawl4AI's answer is over ${LARGEST_ANSWER} bytes`],
  unreachable: UNREACHABLE,
  lost: UNREACHABLE,
  unreadable: UNREACHABLE,
};

function refusal({ status, body }: JsonReply): RenderError {
  const why = `Crawl4AI answered ${status}: ${body.slice(0, LONGEST_REASON)}`;
  const mayPass = status === 429 || status >= 500 || (status >= 300 && status < 400);
  return new RenderError(mayPass ? "RENDERER_UNAVAILABLE" : "RENDER_FAILED", why);
}

function pageOf(reply: JsonReply, document: FetchedDocument, waitFor: string | undefined): RenderedPage {
  const parsed = answerSchema.safeParse(jsonIfAny(reply));
  const [result] = parsed.data?.results ?? [];
  if (result === undefined)
    throw new RenderError("RENDER_FAILED", "Crawl4AI's answer is not what its documentation says");
  const { success, html, redirected_url: finalUrl, error_message: reason } = result;
  if (!success) {
    const why = reason?.slice(0, LONGEST_REASON) ?? "without a reason";
    if (waitFor !== undefined && /wait condition|wait_for/i.test(why)) {
      throw new RenderError("WAIT_FOR_TIMEOUT", `Nothing matched wait_for (${waitFor}) in time`);
    }
    throw new RenderError("RENDER_FAILED", `Crawl4AI could not render the page: ${why}`);
  }
  if (!html) throw new RenderError("RENDER_FAILED", "Crawl4AI sent no HTML");
  if (html.length > LARGEST_DOM) throw new RenderError("RENDER_TOO_LARGE", `The DOM is over ${LARGEST_DOM} characters`);
  // what it followed is another page, and this one stays as it was fetched
  if (finalUrl && isElsewhere(finalUrl, document.url)) {
    return { html: document.text, navigations: [finalUrl], shortcoming: null };
  }
  return { html, navigations: [], shortcoming: null };
}

function isElsewhere(a: string, b: string): boolean {
  if (!URL.canParse(a)) return false;
  const [one, other] = [new URL(a), new URL(b)];
  one.hash = "";
  other.hash = "";
  return one.href !== other.href;
}
