/** Metrics of ingest: the captures taken, and what was written for them. */
import { counter, counterBy, histogram, metricSet, SECONDS } from "../../platform/observability/metrics.ts";

export const INGEST = metricSet("ingest", [], {
  batches: counter("Capture batches ingested, those that came twice included"),
  batch_seconds: histogram("Time from the delivery of a batch to its commit", "Seconds", SECONDS),
  pages: counterBy(
    "outcome",
    ["crawled", "failed", "skipped", "retried"],
    "Captures taken, each once, by what became of their URLs",
  ),
  reused: counter("Of these, captures that the crawl cache had"),
  documents: counter("Documents written"),
  chunks: counter("Chunks of text written"),
});
