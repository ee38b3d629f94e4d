/** Fetches one URL of a task: it becomes one capture, and the WARC records of every exchange on the way. */
import { type UrlGuard, UrlRefusedError } from "../../access/url-guard.ts";
import type { Capture, CaptureError } from "../../capture/capture.ts";
import type { WarcMember } from "../../capture/warc-segment.ts";
import { type Exchange, headerValue, type RequestLimits } from "../http/exchange.ts";
import { fault } from "../http/faults.ts";
import { parseMediaType } from "../http/media-type.ts";
import { readPageContent } from "../http/read-page.ts";
import { createRedirectCookies } from "../http/redirect-cookies.ts";
import { followRedirects, type Reply } from "../http/redirects.ts";
import { RequestRefused } from "../http/request-refused.ts";
import type { RequestHeaders } from "../politeness/polite-client.ts";
import { cookieHeader } from "../settings/cookies.ts";
import { type CrawlConfig, OWN_HEADERS, pageTimeoutMs, selectionOf } from "../settings/crawl-config.ts";
import type { FetchTask, PriorCapture } from "../tasks/fetch-task.ts";
import type { RenderRequest } from "../tasks/render-task.ts";
import type { Session } from "../tasks/session-cookies.ts";
import { hostOf } from "../urls/normalize-url.ts";
import type { Scope } from "../urls/scope.ts";
import { inScope } from "../urls/scope.ts";
import { archiveExchange, isConditional } from "./archive-exchange.ts";
import { renderReason } from "./render-decision.ts";

export type TaskUrl = FetchTask["urls"][number];

export interface PageContext {
  config: CrawlConfig;
  scope: Scope;
  /** The task's own host: the only one that gets the configured headers. */
  host: string;
  userAgent: string;
  /** Whether the text of the links is wanted, too. */
  anchors: boolean;
  guard: UrlGuard;
  /** Politely; throws as `PoliteClient.get` does. */
  get(url: URL, headers: RequestHeaders, limits: RequestLimits): Promise<Exchange>;
  /** Cookies that the job keeps; null where it keeps none. */
  session: Session | null;
  /** Why robots.txt forbids the URL, or null. */
  robotsFault(url: URL): Promise<CaptureError | null>;
  /** Whether it forbids the URL, where that is no fault. */
  isDisallowed(url: URL): Promise<boolean>;
  now(): number;
}

export interface FetchedPage {
  /** Its `warc` is not filled in yet. */
  capture: Capture;
  members: WarcMember[];
  /** Record id of the member that the capture points to; null where nothing came. */
  recordId: string | null;
  /** Set where the page is to be opened in a browser before its capture is delivered. */
  rendering: RenderRequest | null;
}

const ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5";
const ACCEPT_ENCODING = "gzip, deflate, br, zstd";
/** Header values that may be sent back as they came. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** @throws what `PageContext.get` throws where the task, not the URL, must stop */
export async function fetchPage(target: TaskUrl, context: PageContext): Promise<FetchedPage> {
  const { config } = context;
  const maxBytes = Math.floor(config.max_page_size_mb * 1024 * 1024);
  const capture = blankCapture(target, context.now());
  const members: WarcMember[] = [];
  let recordId: string | null = null;
  let remainingMs = pageTimeoutMs(config);
  let rendering: RenderRequest | null = null;
  const ended = (error: CaptureError | null): FetchedPage => ({
    capture: { ...capture, error },
    members,
    recordId,
    rendering,
  });

  const jar = createRedirectCookies(context.now);
  const { session } = context;
  const ask = async (next: URL): Promise<Reply> => {
    const url = await check(next.href, capture.redirects.length > 0, context);
    if (!(url instanceof URL)) return { response: null, fault: url };
    capture.finalUrl = url.href;
    if (await context.isDisallowed(url)) capture.disallowed = true;
    const prior = priorOf(target.prior, url);
    let exchange: Exchange;
    try {
      const continues = capture.redirects.length > 0;
      const retried = target.attempt > 0;
      const whole = config.page_timeout_ms !== undefined;
      const limits = { timeoutMs: remainingMs, whole, maxBodyBytes: maxBytes, continues, retried };
      const headers = async (): Promise<[string, string][]> => {
        if (session !== null) jar.restore(url, await session.read(url));
        return requestHeaders(url, prior, jar.headerFor(url), context);
      };
      exchange = await context.get(url, headers, limits);
    } catch (error) {
      if (error instanceof RequestRefused) return { response: null, fault: error.fault };
      throw error;
    }
    if (exchange.response !== null) await session?.keep(url, exchange.response.headers);
    const archived = await archiveExchange(exchange, prior);
    members.push(...archived.members);
    recordId = archived.recordId ?? recordId;
    remainingMs = Math.max(1, remainingMs - exchange.durationMs);
    observe(capture, exchange, archived.payloadDigest);
    capture.revisitOf = archived.revisit ? (prior?.captureId ?? null) : null;
    return exchange;
  };
  const start = new URL(target.url);
  start.hash = "";
  const onRedirect = (url: URL, status: number, location: URL): void => {
    capture.redirects.push({ url: url.href, status });
    capture.finalUrl = location.href;
  };
  const last = await followRedirects(start, config.max_redirects, ask, onRedirect, jar);

  const { url, response } = last;
  if (response === null || last.fault !== null) return ended(last.fault);
  const prior = priorOf(target.prior, url);
  if (response.status === 304 && prior !== null && isConditional(prior)) {
    capture.notModified = true;
    capture.payloadDigest = prior.payloadDigest;
    return ended(null);
  }
  if (response.status < 200 || response.status > 299) return ended(statusFault(response.status));
  const { error, html, pdf, ...content } = await readPageContent(response, url.href, maxBytes, {
    selection: selectionOf(config),
    anchors: context.anchors,
    pdf: config.pdf === "read",
  });
  Object.assign(capture, content);
  if (pdf !== undefined) rendering = { reason: "pdf", html: "", pdf: Buffer.from(pdf).toString("base64") };
  if (html !== null && content.extraction !== null) {
    const reason = renderReason(config.render, html, content.extraction);
    if (reason !== null) rendering = { reason, html };
  }
  return ended(error);
}

function blankCapture(target: TaskUrl, now: number): Capture {
  return {
    url: target.url,
    urlHash: target.urlHash,
    finalUrl: target.url,
    redirects: [],
    depth: target.depth,
    status: 0,
    headers: [],
    mimeType: null,
    charset: null,
    fetchedAt: new Date(now).toISOString(),
    fetchTimeMs: 0,
    payloadBytes: 0,
    payloadDigest: null,
    truncated: false,
    notModified: false,
    revisitOf: null,
    rendered: null,
    warc: null,
    extraction: null,
    error: null,
  };
}

/** A capture of a URL that was not asked for. */
export function capturedWithout(target: TaskUrl, error: CaptureError, now: number): Capture {
  return { ...blankCapture(target, now), error };
}

/** The URL as it may be requested, or why it may not: by the guard, the job's scope and robots.txt. */
export async function check(href: string, redirected: boolean, context: PageContext): Promise<URL | CaptureError> {
  let url: URL;
  try {
    url = context.guard.inspect(href);
  } catch (error) {
    if (!(error instanceof UrlRefusedError)) throw error;
    return fault(redirected && error.code === "URL_INVALID" ? "INVALID_REDIRECT" : "URL_BLOCKED", error.message);
  }
  url.hash = "";
  if (!inScope(url, context.scope)) return fault("OUT_OF_SCOPE", `${url.host} is outside the scope of the job`);
  return (await context.robotsFault(url)) ?? url;
}

/** Validators hold for the very URL they came from. */
function priorOf(prior: PriorCapture | null, url: URL): PriorCapture | null {
  return prior !== null && prior.url === url.href ? prior : null;
}

function requestHeaders(
  url: URL,
  prior: PriorCapture | null,
  setCookies: string | null,
  context: PageContext,
): [string, string][] {
  const own = Object.entries(hostOf(url) === context.host ? context.config.headers : {}).filter(
    ([name]) => !OWN_HEADERS.test(name),
  );
  // what the site has set since goes before what the job began with
  const set = new Set(setCookies?.split("; ").map((pair) => pair.split("=", 1)[0]));
  const begunWith = context.config.cookies.filter(({ name }) => !set.has(name));
  const cookies = [cookieHeader(begunWith, url), setCookies].filter((each) => each !== null);
  if (cookies.length > 0) {
    const [header, value] = own.find(([name]) => name.toLowerCase() === "cookie") ?? [];
    const others = own.filter(([name]) => name !== header);
    const all = value === undefined ? cookies : [value, ...cookies];
    own.splice(0, own.length, ...others, ["cookie", all.join("; ")]);
  }
  const given = new Set(own.map(([name]) => name.toLowerCase()));
  const headers: [string, string][] = [
    ["user-agent", context.userAgent],
    ["accept", ACCEPT],
    ["accept-encoding", ACCEPT_ENCODING],
  ];
  if (prior?.etag && SENDABLE.test(prior.etag)) headers.push(["if-none-match", prior.etag]);
  if (prior?.lastModified && SENDABLE.test(prior.lastModified)) headers.push(["if-modified-since", prior.lastModified]);
  return [...headers.filter(([name]) => !given.has(name)), ...own];
}

function observe(capture: Capture, { response, startedAt, durationMs }: Exchange, payloadDigest: string | null): void {
  capture.fetchedAt = new Date(startedAt).toISOString();
  capture.fetchTimeMs += durationMs;
  capture.status = response?.status ?? 0;
  capture.headers = (response?.headers ?? []).map(([name, value]) => [name.toLowerCase(), value]);
  capture.mimeType = response ? parseMediaType(headerValue(response.headers, "content-type")).essence : null;
  capture.payloadBytes = response?.body.length ?? 0;
  capture.payloadDigest = payloadDigest;
  capture.truncated = response !== null && response.truncated !== null;
}

function statusFault(status: number): CaptureError {
  if (status === 429) return fault("RATE_LIMITED", "The server answered 429 Too Many Requests");
  return { code: `HTTP_${status}`, message: `The server answered ${status}`, retryable: status >= 500 };
}
