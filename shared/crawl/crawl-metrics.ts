/** What the crawl engine tells of itself, beside fetch (fetch-tally.ts). */
import type { Logger } from "../platform/observability/log.ts";
import { counter, counterBy, histogram, metricSet, SECONDS } from "../platform/observability/metrics.ts";

export const INGEST = metricSet("ingest", [], {
  batches: counter("Capture batches ingested, those that came twice included"),
  batch_seconds: histogram("Time from a batch's arrival to its commit", "Seconds", SECONDS),
  pages: counterBy(
    "outcome",
    ["crawled", "failed", "skipped", "retried"],
    "Captures taken, each once, by what became of their URLs",
  ),
  reused: counter("Of these, captures that the crawl cache had"),
  documents: counter("Documents written"),
  chunks: counter("Chunks of text written"),
});

const JOB_SECONDS = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];

export const JOBS = metricSet("jobs", ["kind", "status", "stop_reason"], {
  ended: counter("Jobs that ended; discoveries are of the kind discovery"),
  duration_seconds: histogram("Time from the job's request to its end", "Seconds", JOB_SECONDS),
});

export const RENDER = metricSet("render", [], {
  pages: counterBy(
    "outcome",
    ["rendered", "incomplete", "failed", "unwanted"],
    "Pages by what the browser made of them; failed and unwanted ones are kept as they were fetched",
  ),
  page_seconds: histogram("Time that the browser took for a page", "Seconds", SECONDS),
});

export const CIRCUIT = metricSet("circuit", [], { openings: counter("Hosts left alone since they failed in a row") });

const STREAM_ENDS = ["complete", "time_limit", "left", "failed"] as const;

export const STREAM = metricSet("stream", [], {
  ends: counterBy("how", STREAM_ENDS, "Streams of results, by how they ended"),
  records: counter("Pages sent in streams"),
  stream_seconds: histogram("How long streams lasted", "Seconds", SECONDS),
});

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

export type StreamEnd = (typeof STREAM_ENDS)[number];

/** One line for a stream of results that is over. */
export function tellStream(log: Logger, jobId: string, how: StreamEnd, records: number, durationS: number): void {
  const values = { ends: { [how]: 1 }, records, stream_seconds: durationS };
  log.measure("stream ended", { job_id: jobId, ...STREAM.fields({}, values, Date.now()) });
}

interface EndedJob {
  kind: string;
  status: string;
  stopReason: string;
}

/** One line for a job that has ended. To be called once that is committed. */
export function tellJobEnded(
  log: Logger,
  jobId: string,
  { kind, status, stopReason }: EndedJob,
  durationS: number,
): void {
  const apart = { kind, status, stop_reason: stopReason };
  const fields = JOBS.fields(apart, { ended: 1, duration_seconds: durationS }, Date.now());
  log.measure("job ended", { job_id: jobId, ...fields });
}
