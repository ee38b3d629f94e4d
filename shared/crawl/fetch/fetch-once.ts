/** Fetches one page as politely as those of a crawl, for somebody who waits for it. */
import { ApiError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import { CircuitOpen } from "../politeness/host-permit.ts";
import { SlotTooFar } from "../politeness/slot-queue.ts";
import { createRobotsGate } from "../robots/gate.ts";
import { type CrawlConfig, crawlConfigSchema } from "../settings/crawl-config.ts";
import { normalizeUrl, urlHash } from "../urls/normalize-url.ts";
import { ANYWHERE } from "../urls/scope.ts";
import type { FetchDependencies } from "./dependencies.ts";
import { type FetchedPage, fetchPage } from "./fetch-page.ts";
import { createTaskHosts } from "./task-hosts.ts";

export type OnePageDependencies = Pick<
  FetchDependencies,
  "guard" | "egress" | "budget" | "hosts" | "robots" | "clock" | "settings"
>;

export interface OnePage extends Pick<CrawlConfig, "headers" | "cookies"> {
  url: string;
  respectRobotsTxt: boolean;
  /** Whether the main content is wanted alone, as it is where this is left out. */
  mainOnly?: boolean;
}

/** For the answer of the site. */
const LONGEST_FETCH_MS = 15_000;

/**
 * @param deadline epoch ms
 * @param stop ends it before
 * @throws ApiError 503 HOST_BUSY where the host has no free slot soon, CIRCUIT_OPEN where it failed too often
 */
export async function fetchOnePage(
  dependencies: OnePageDependencies,
  { url, respectRobotsTxt, headers, cookies, mainOnly = true }: OnePage,
  deadline: number,
  stop?: AbortSignal,
): Promise<FetchedPage> {
  const { guard, clock, settings, robots: cache } = dependencies;
  const { host } = guard.inspect(url);
  const timeoutMs = Math.min(LONGEST_FETCH_MS, Math.max(100, deadline - clock.now()));
  const config = crawlConfigSchema.parse({
    render: "always",
    page_timeout_ms: timeoutMs,
    headers,
    cookies,
    only_main_content: mainOnly,
  });
  const timeUp = AbortSignal.timeout(timeoutMs);
  const signal = stop === undefined ? timeUp : AbortSignal.any([timeUp, stop]);
  const hosts = createTaskHosts({
    dependencies,
    task: { jobId: uuidv7(), host, config, deadline: null },
    signal,
    deadline,
    queued: () => 0,
  });
  const get: typeof hosts.get = (each, sent, limits) => hosts.get(each, sent, { ...limits, stop });
  const robots = createRobotsGate({
    cache,
    guard,
    userAgent: settings.userAgent,
    unreachable: settings.robotsUnreachable,
    get,
    archive: async () => undefined,
    onCrawlDelay: (origin, delayMs) => hosts.slowTo(origin.host, delayMs),
    now: clock.now,
    pause: (ms) => clock.sleep(ms, signal),
  });
  const target = { url, urlHash: urlHash(normalizeUrl(url)), depth: 0, attempt: 0, prior: null };
  try {
    return await fetchPage(target, {
      config,
      scope: ANYWHERE,
      host,
      userAgent: settings.userAgent,
      anchors: false,
      guard,
      get,
      robotsFault: async (each) => (respectRobotsTxt ? await robots.faultOf(each) : null),
      isDisallowed: async () => false,
      session: null,
      now: clock.now,
    });
  } catch (error) {
    if (error instanceof SlotTooFar) throw busy(host, error);
    if (signal.aborted) throw new ApiError(504, `url: ${host} did not answer in time`, { code: "PAGE_TIMEOUT" });
    throw error;
  }
}

function busy(host: string, { waitMs, cause }: SlotTooFar): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const why = cause instanceof CircuitOpen ? `: ${cause.message}` : "";
  return new ApiError(503, `${host} may not be asked for ${seconds} s, try again then${why}`, {
    code: cause instanceof CircuitOpen ? "CIRCUIT_OPEN" : "HOST_BUSY",
    details: { retry_after_seconds: seconds },
    headers: { "retry-after": String(seconds) },
  });
}
