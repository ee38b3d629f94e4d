/** Metrics of rendering: what the browser made of pages. */
import { counterBy, histogram, metricSet, SECONDS } from "../../platform/observability/metrics.ts";

export const RENDER = metricSet("render", [], {
  pages: counterBy(
    "outcome",
    ["rendered", "incomplete", "failed", "unwanted"],
    "Pages by what the browser made of them; failed and unwanted ones are kept as they were fetched",
  ),
  page_seconds: histogram("Time that the browser took for a page", "Seconds", SECONDS),
});
