/** Metric of queues that a schedule empties. */
import { counter, metricSet } from "./metrics.ts";

export const DRAINED = metricSet("drained", [], {
  messages: counter("Messages that were found in queues which a schedule empties"),
});
