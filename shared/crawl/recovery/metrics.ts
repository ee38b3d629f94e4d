/** Metrics of recovery: dead letters, and what the sweep sent again or ended. */
import { counter, counterBy, metricSet } from "../../platform/observability/metrics.ts";

export const DEAD_LETTERS = metricSet("dead_letters", ["queue"], {
  received: counterBy(
    "fate",
    ["waiting", "recovered", "ended"],
    "Messages that no delivery could complete: to be sent again, in need of nothing, or given up",
  ),
});

export const SWEEP = metricSet("sweep", [], {
  renewed_tasks: counter("Tasks sent again since their lease had lapsed"),
  ended_urls: counter("URLs ended since no task of theirs answered"),
  resumed_jobs: counter("Jobs without progress that were moved on"),
  resent_chunks: counter("Chunks sent to the embedder again"),
  redriven_letters: counter("Dead letters sent again"),
});
