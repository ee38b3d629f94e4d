/**
 * Crawl4AI's server as renderer: `POST /crawl {urls, browser_config, crawler_config}` answers `{success, results}` with
 * one result per URL; 429 and 5xx mean that it is overloaded or broken. It asks the site for the page itself.
 * https://docs.crawl4ai.com/core/self-hosting/
 */
import { z } from "zod";
import { type FetchedDocument, RenderError, type RenderedPage, type Renderer } from "./renderer.ts";

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
  const endpoint = `${url.replace(/\/+$/, "")}/crawl`;
  return {
    name: "crawl4ai",
    asksAgain: true,
    async render(document, { waitFor, timeoutMs, signal }) {
      const limit = Math.min(timeoutMs, ownTimeoutMs);
      const request = {
        urls: [document.url],
        browser_config: { type: "BrowserConfig", params: { headless: true, user_agent: userAgent } },
        crawler_config: {
          type: "CrawlerRunConfig",
          params: {
            cache_mode: "bypass",
            page_timeout: Math.max(1000, limit - OVERHEAD_MS),
            ...(waitFor === undefined ? {} : { wait_for: `css:${waitFor}` }),
          },
        },
      };
      const { status, text } = await ask(endpoint, request, limit, signal);
      if (status !== 200) throw refusal(status, text);
      return pageOf(text, document, waitFor);
    },
  };
}

async function ask(
  endpoint: string,
  request: unknown,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<{ status: number; text: string }> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
      redirect: "error",
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
    });
    return { status: response.status, text: await readBounded(response) };
  } catch (error) {
    if (error instanceof RenderError) throw error;
    if (signal?.aborted)
      throw new RenderError("RENDER_STOPPED", "Nobody waits for the page any more", { cause: error });
    if (late.aborted) throw new RenderError("RENDER_TIMEOUT", `Crawl4AI did not answer within ${timeoutMs} ms`);
    throw new RenderError("RENDERER_UNAVAILABLE", "Crawl4AI cannot be reached", { cause: error });
  }
}

async function readBounded(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > LARGEST_ANSWER)
      throw new RenderError("RENDER_TOO_LARGE", `Crawl4AI's answer is over ${LARGEST_ANSWER} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function refusal(status: number, text: string): RenderError {
  const why = `Crawl4AI answered ${status}: ${text.slice(0, LONGEST_REASON)}`;
  return new RenderError(status === 429 || status >= 500 ? "RENDERER_UNAVAILABLE" : "RENDER_FAILED", why);
}

function pageOf(text: string, document: FetchedDocument, waitFor: string | undefined): RenderedPage {
  const parsed = answerSchema.safeParse(parseJson(text));
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // told as what it is: not the documented answer
    return undefined;
  }
}

function isElsewhere(a: string, b: string): boolean {
  if (!URL.canParse(a)) return false;
  const [one, other] = [new URL(a), new URL(b)];
  one.hash = "";
  other.hash = "";
  return one.href !== other.href;
}
