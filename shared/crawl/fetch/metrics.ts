/** What one delivery of a fetch task did, told in one line: a few additions a page. */
import type { Capture } from "../../capture/capture.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { counter, counterBy, histogram, metricSet, SECONDS } from "../../platform/observability/metrics.ts";
import { ERROR_CLASSES, errorClassOf } from "./error-class.ts";

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

export interface FetchTally {
  /** @param attempt tries before this one @param rendered whether a browser goes on with it */
  page(capture: Capture, attempt: number, rendered: boolean): void;
  deferred(delayMs: number): void;
  /** Nothing where nothing was done. */
  tell(log: Logger, now: number): void;
}

export function createFetchTally(): FetchTally {
  const pages: Partial<Record<PageOutcome, number>> = {};
  const page_seconds: number[] = [];
  let [payload_bytes, retries, rendering, deferrals, deferred_seconds, told] = [0, 0, 0, 0, 0, false];
  return {
    page({ error, notModified, fetchTimeMs, payloadBytes, status }, attempt, rendered) {
      told = true;
      const outcome = error !== null ? errorClassOf(error.code) : notModified ? "not_modified" : "fetched";
      pages[outcome] = (pages[outcome] ?? 0) + 1;
      // no request was made for the others
      if (status > 0 || fetchTimeMs > 0) page_seconds.push(fetchTimeMs / 1000);
      payload_bytes += payloadBytes;
      if (attempt > 0) retries += 1;
      if (rendered) rendering += 1;
    },
    deferred(delayMs) {
      told = true;
      deferrals += 1;
      deferred_seconds += delayMs / 1000;
    },
    tell(log, now) {
      if (!told) return;
      const values = { pages, page_seconds, payload_bytes, retries, rendering, deferrals, deferred_seconds };
      log.measure("task worked on", FETCH.fields({}, values, now));
    },
  };
}
