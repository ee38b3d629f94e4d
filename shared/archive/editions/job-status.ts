/** The states of an archive job, and what leads from one to another. */

export const JOB_STATUSES = [
  "queued",
  "running",
  "retryable",
  "failed",
  "completed",
  "indexing",
  "indexed",
  "index_failed",
] as const;
export type ArchiveJobStatus = (typeof JOB_STATUSES)[number];

export type ArchiveJobEvent =
  | "crawl_started"
  | "crawl_succeeded"
  | "crawl_failed"
  | "index_started"
  | "index_succeeded"
  | "index_failed"
  /** Somebody asks for another try. */
  | "retried";

/** Crawls that are made of a job beyond the first one by itself. */
export const MOST_RETRIES = 2;

const NEXT: Readonly<Record<ArchiveJobStatus, Partial<Record<ArchiveJobEvent, ArchiveJobStatus>>>> = {
  queued: { crawl_started: "running" },
  retryable: { crawl_started: "running" },
  running: { crawl_succeeded: "completed", crawl_failed: "failed" },
  failed: { retried: "retryable" },
  completed: { index_started: "indexing", index_failed: "index_failed" },
  indexing: { index_succeeded: "indexed", index_failed: "index_failed" },
  // indexed anew
  indexed: { index_started: "indexing" },
  index_failed: { index_started: "indexing", retried: "completed" },
};

/**
 * @param retries crawls that were made of it beyond the first one
 * @returns undefined where the event has no place in this state
 */
export function nextStatus(
  status: ArchiveJobStatus,
  event: ArchiveJobEvent,
  retries = MOST_RETRIES,
): ArchiveJobStatus | undefined {
  const next = NEXT[status][event];
  return next === "failed" && event === "crawl_failed" && retries < MOST_RETRIES ? "retryable" : next;
}
