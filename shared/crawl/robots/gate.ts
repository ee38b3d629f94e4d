/**
 * Says what robots.txt lets one task fetch. The file is fetched once per origin: with the site's own scheme and port,
 * politely, archived.
 */
import { type UrlGuard, UrlRefusedError } from "../../access/url-guard.ts";
import type { CaptureError } from "../../capture/capture.ts";
import { decodeContent } from "../http/content-coding.ts";
import { type Exchange, headerValue, type RequestLimits } from "../http/exchange.ts";
import { fault } from "../http/faults.ts";
import { followRedirects, type Reply } from "../http/redirects.ts";
import { RequestRefused } from "../http/request-refused.ts";
import type { RobotsCache } from "./cache.ts";
import { ALLOW_ALL, isAllowed, parseRobots, ROBOTS_MAX_BYTES, type RobotsRules } from "./rules.ts";

export interface RobotsGate {
  /**
   * The rules of the URL's origin, or why they cannot be had.
   * @throws as `faultOf`
   */
  rulesOf(url: URL): Promise<RobotsRules | CaptureError>;
  /**
   * Why the URL may not be fetched, or null.
   * @throws what `get` throws where the task must stop
   */
  faultOf(url: URL): Promise<CaptureError | null>;
  /** Whether rules that are known already forbid the URL: nothing is asked for. */
  isKnownToForbid(url: URL): Promise<boolean>;
}

export interface RobotsGateOptions {
  cache: RobotsCache;
  guard: UrlGuard;
  userAgent: string;
  /** `ROBOTS__UNREACHABLE`: what a robots.txt that cannot be fetched means. */
  unreachable: "disallow" | "allow";
  get(url: URL, headers: readonly [string, string][], limits: RequestLimits): Promise<Exchange>;
  /** Keeps the exchange. */
  archive(exchange: Exchange): Promise<void>;
  /** Epoch ms. */
  now(): number;
  /** Waits while another task fetches. */
  pause(ms: number): Promise<void>;
  /** Called once per origin with what it asks for. */
  onCrawlDelay(origin: URL, delayMs: number): void;
}

/** RFC 9309 section 2.3.1.2: at least five. */
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;
const AWAITED_EVERY_MS = 400;

/** 429 is a 4xx, so it allows all; but it speaks of our haste, not of the file, and is not believed for a day. */
const ALLOW_FOR_NOW: RobotsRules = { ...ALLOW_ALL };

export function createRobotsGate(options: RobotsGateOptions): RobotsGate {
  /** By origin; one fetch however many URLs ask at once. What cannot be fetched stays so for this task. */
  const known = new Map<string, Promise<RobotsRules | CaptureError>>();

  const rulesOf = (url: URL): Promise<RobotsRules | CaptureError> => {
    const held = known.get(url.origin);
    if (held !== undefined) return held;
    const loading = load(url);
    known.set(url.origin, loading);
    // the task stopped, which says nothing about the site
    loading.catch(() => known.delete(url.origin));
    return loading;
  };

  const load = async (url: URL): Promise<RobotsRules | CaptureError> => {
    const rules = (await options.cache.get(url.origin)) ?? (await fetchOnce(url, options));
    if (!("code" in rules) && rules.crawlDelayMs !== null) options.onCrawlDelay(url, rules.crawlDelayMs);
    return rules;
  };

  return {
    rulesOf,
    async faultOf(url) {
      const rules = await rulesOf(url);
      if ("code" in rules) {
        const tolerated = rules.code === "ROBOTS_UNREACHABLE" && options.unreachable === "allow";
        return tolerated ? null : rules;
      }
      return isAllowed(rules, url)
        ? null
        : fault("ROBOTS_DENIED", `robots.txt of ${url.origin} forbids ${url.pathname}`);
    },
    async isKnownToForbid(url) {
      const rules = await options.cache.get(url.origin);
      return rules !== undefined && !isAllowed(rules, url);
    },
  };
}

/** Tasks of one host that begin together fetch it once: one of them does, and the others take what it was told. */
async function fetchOnce(url: URL, options: RobotsGateOptions): Promise<RobotsRules | CaptureError> {
  const { cache, pause, now } = options;
  const since = now();
  while (!(await cache.claim(url.origin))) {
    for (;;) {
      const outcome = await cache.awaited(url.origin, since);
      if (outcome === "unclaimed") break;
      if (outcome !== "pending") return outcome;
      await pause(AWAITED_EVERY_MS);
    }
  }
  let outcome: RobotsRules | CaptureError | null = null;
  try {
    outcome = await fetchRobots(new URL("/robots.txt", url), options);
    return outcome;
  } finally {
    if (outcome === null || "code" in outcome || outcome === ALLOW_FOR_NOW) await cache.settle(url.origin, outcome);
    else await cache.put(url.origin, outcome);
  }
}

/** RFC 9309 section 2.3.1: 4xx and endless redirects allow all; 5xx and no answer forbid all, for now. */
async function fetchRobots(start: URL, options: RobotsGateOptions): Promise<RobotsRules | CaptureError> {
  const unreachable = (why: string): CaptureError =>
    fault("ROBOTS_UNREACHABLE", `robots.txt of ${start.origin} cannot be fetched: ${why}`);
  const headers: [string, string][] = [
    ["user-agent", options.userAgent],
    ["accept-encoding", "gzip, deflate, br"],
  ];
  const ask = async (url: URL, cookies: string | null): Promise<Reply> => {
    options.guard.inspect(url.href);
    const continues = url !== start;
    const limits = { timeoutMs: TIMEOUT_MS, maxBodyBytes: ROBOTS_MAX_BYTES + 1, continues };
    const sent: [string, string][] = cookies === null ? headers : [...headers, ["cookie", cookies]];
    const exchange = await options.get(url, sent, limits);
    await options.archive(exchange);
    return exchange;
  };
  try {
    const { url, response, fault: failure, strayed } = await followRedirects(start, MAX_REDIRECTS, ask);
    if (strayed) return ALLOW_ALL;
    // neither is said of the file: the whole site may not be asked, or cannot be
    if (failure?.code === "PROXY_UNAVAILABLE") return failure;
    if (failure?.code === "URL_BLOCKED") return url.origin === start.origin ? failure : ALLOW_ALL;
    if (response === null || failure !== null) return unreachable(failure?.message ?? "no answer");
    if (response.status >= 500) return unreachable(`the server answered ${response.status}`);
    if (response.status === 429) return ALLOW_FOR_NOW;
    if (response.status < 200 || response.status > 299) return ALLOW_ALL;
    const coding = headerValue(response.headers, "content-encoding");
    const cut = response.truncated !== null;
    const decoded = await decodeContent(response.body, coding, ROBOTS_MAX_BYTES + 1, cut);
    if ("failed" in decoded) return unreachable(decoded.failed);
    return parseRobots(decoded.truncated ? withoutHalfAllow(decoded.bytes) : decoded.bytes);
  } catch (error) {
    if (error instanceof UrlRefusedError) return ALLOW_ALL;
    if (error instanceof RequestRefused) return error.fault;
    throw error;
  }
}

/** Of a line that is cut in two, a `Disallow` forbids at least what it was to forbid; an `Allow` may allow too much. */
function withoutHalfAllow(bytes: Buffer): Buffer {
  const start = Math.max(bytes.lastIndexOf("\n"), bytes.lastIndexOf("\r")) + 1;
  return /^\s*allow/i.test(bytes.toString("latin1", start)) ? bytes.subarray(0, start) : bytes;
}
