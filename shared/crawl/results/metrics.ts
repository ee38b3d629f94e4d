/** Metrics of result streams: how they ended, and what they sent. */
import type { Logger } from "../../platform/observability/log.ts";
import { counter, counterBy, histogram, metricSet, SECONDS } from "../../platform/observability/metrics.ts";

const STREAM_ENDS = ["complete", "time_limit", "left", "failed"] as const;

export const STREAM = metricSet("stream", [], {
  ends: counterBy("how", STREAM_ENDS, "Streams of results, by how they ended"),
  records: counter("Pages sent in streams"),
  stream_seconds: histogram("How long streams lasted", "Seconds", SECONDS),
});

export type StreamEnd = (typeof STREAM_ENDS)[number];

/** One line for a stream of results that is over. */
export function recordStream(log: Logger, jobId: string, how: StreamEnd, records: number, durationS: number): void {
  const values = { ends: { [how]: 1 }, records, stream_seconds: durationS };
  log.measure("stream ended", { job_id: jobId, ...STREAM.fields({}, values, Date.now()) });
}
