/** Counts what one delivery of a fetch task did, for one line of the log: a few additions a page. */
import type { Capture, CaptureErrorCode } from "../../capture/capture.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { counter, counterBy, histogram, metricSet, SECONDS } from "../../platform/observability/metrics.ts";

/** What kind of trouble an error code of a capture means: few enough to be counted by. */
export const ERROR_CLASSES = [
  "dns",
  "connect",
  "timeout",
  "broken",
  "redirect",
  "http_4xx",
  "http_5xx",
  "http_other",
  "rate_limited",
  "robots",
  "circuit_open",
  "proxy",
  "content",
  "out_of_bounds",
  "stopped",
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

const CLASS_OF: Record<CaptureErrorCode, ErrorClass> = {
  DNS_FAILURE: "dns",
  CONNECT_FAILED: "connect",
  TLS_ERROR: "connect",
  CONNECT_TIMEOUT: "timeout",
  HEADERS_TIMEOUT: "timeout",
  BODY_TIMEOUT: "timeout",
  CONNECTION_RESET: "broken",
  INVALID_RESPONSE: "broken",
  HEADERS_TOO_LARGE: "broken",
  LENGTH_MISMATCH: "broken",
  TOO_MANY_REDIRECTS: "redirect",
  REDIRECT_LOOP: "redirect",
  INVALID_REDIRECT: "redirect",
  RATE_LIMITED: "rate_limited",
  ROBOTS_DENIED: "robots",
  ROBOTS_UNREACHABLE: "robots",
  CIRCUIT_OPEN: "circuit_open",
  PROXY_UNAVAILABLE: "proxy",
  DECODE_FAILED: "content",
  UNSUPPORTED_TYPE: "content",
  EMPTY_BODY: "content",
  EXTRACT_FAILED: "content",
  DUPLICATE_CONTENT: "content",
  URL_BLOCKED: "out_of_bounds",
  OUT_OF_SCOPE: "out_of_bounds",
  DOMAIN_BLOCKED: "out_of_bounds",
  TRAP_PATH: "out_of_bounds",
  TRAP_QUERY: "out_of_bounds",
  TRAP_CALENDAR: "out_of_bounds",
  CANCELLED: "stopped",
  TIMEOUT: "stopped",
  BUDGET_EXHAUSTED: "stopped",
  HOST_BUDGET_EXHAUSTED: "stopped",
  QUOTA_EXCEEDED: "stopped",
  DEAD_LETTERED: "stopped",
  TASK_REFUSED: "stopped",
};

const PAGE_OUTCOMES = ["fetched", "not_modified", ...ERROR_CLASSES] as const;
type PageOutcome = (typeof PAGE_OUTCOMES)[number];

export const FETCH = metricSet("fetch", [], {
  pages: counterBy("outcome", PAGE_OUTCOMES, "URLs that fetch was done with, by what came of this try"),
  page_seconds: histogram("Time of the requests for one page, its redirects included", "Seconds", SECONDS),
  payload_bytes: counter("Bodies of pages as they were received, before decompression", "Bytes"),
  retries: counter("Tries of a URL after its first"),
  rendering: counter("Pages handed on to a browser"),
  deferrals: counter("Tasks sent again for later, to wait for their host or for lack of time"),
  deferred_seconds: counter("How much later those tasks were to go on", "Seconds"),
});

export interface FetchRecord {
  /**
   * @param attempt tries before this one
   * @param rendered whether a browser goes on with it
   */
  page(capture: Capture, attempt: number, rendered: boolean): void;
  deferred(delayMs: number): void;
  /** Writes the line, unless nothing was done. */
  write(log: Logger, now: number): void;
}

export function createFetchRecord(): FetchRecord {
  const pages: Partial<Record<PageOutcome, number>> = {};
  const page_seconds: number[] = [];
  let [payload_bytes, retries, rendering, deferrals, deferred_seconds, used] = [0, 0, 0, 0, 0, false];
  return {
    page({ error, notModified, fetchTimeMs, payloadBytes, status }, attempt, rendered) {
      used = true;
      const outcome = error !== null ? errorClassOf(error.code) : notModified ? "not_modified" : "fetched";
      pages[outcome] = (pages[outcome] ?? 0) + 1;
      // no request was made for the others
      if (status > 0 || fetchTimeMs > 0) page_seconds.push(fetchTimeMs / 1000);
      payload_bytes += payloadBytes;
      if (attempt > 0) retries += 1;
      if (rendered) rendering += 1;
    },
    deferred(delayMs) {
      used = true;
      deferrals += 1;
      deferred_seconds += delayMs / 1000;
    },
    write(log, now) {
      if (!used) return;
      const values = { pages, page_seconds, payload_bytes, retries, rendering, deferrals, deferred_seconds };
      log.measure("task worked on", FETCH.fields({}, values, now));
    },
  };
}

/** @param code one of `CAPTURE_ERROR_CODES`, or `HTTP_<status>` */
export function errorClassOf(code: string): ErrorClass {
  if (Object.hasOwn(CLASS_OF, code)) return CLASS_OF[code as CaptureErrorCode];
  if (code.startsWith("HTTP_4")) return "http_4xx";
  return code.startsWith("HTTP_5") ? "http_5xx" : "http_other";
}
