/** Metrics of jobs: how many ended, and how long they took. */
import type { Logger } from "../../platform/observability/log.ts";
import { counter, histogram, metricSet } from "../../platform/observability/metrics.ts";

const JOB_SECONDS = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];

export const JOBS = metricSet("jobs", ["kind", "status", "stop_reason"], {
  ended: counter("Jobs that ended; discoveries are of the kind discovery"),
  duration_seconds: histogram("Time from the job's request to its end", "Seconds", JOB_SECONDS),
});

interface EndedJob {
  kind: string;
  status: string;
  stopReason: string;
}

/** One line for a job that has ended. To be called once that is committed. */
export function recordJobEnded(
  log: Logger,
  jobId: string,
  { kind, status, stopReason }: EndedJob,
  durationS: number,
): void {
  const apart = { kind, status, stop_reason: stopReason };
  const fields = JOBS.fields(apart, { ended: 1, duration_seconds: durationS }, Date.now());
  log.measure("job ended", { job_id: jobId, ...fields });
}
