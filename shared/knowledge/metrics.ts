/** Metrics of embedding and search. */
import type { Logger } from "../platform/observability/log.ts";
import { counter, counterBy, histogram, metricSet, SECONDS } from "../platform/observability/metrics.ts";

const CHUNK_OUTCOMES = ["embedded", "cached", "refused", "released"] as const;
type Embedded = Partial<Record<(typeof CHUNK_OUTCOMES)[number], number>>;

export const EMBED = metricSet("embed", [], {
  chunks: counterBy("outcome", CHUNK_OUTCOMES, "Chunks by how they got their vector"),
  batch_seconds: histogram("Time for the vectors of one batch of chunks", "Seconds", SECONDS),
});

export const SEARCH = metricSet("search", ["mode"], {
  request_seconds: histogram("Time to answer a search, or to fail at it", "Seconds", SECONDS),
  results: counter("Results given"),
  failures: counter("Searches that could not be answered"),
  partial: counter("Searches that were answered without one of their sides"),
});

/** @param started as `performance.now()` gave it */
export function recordEmbedded(log: Logger, jobId: string, chunks: Embedded, started: number): void {
  const values = { chunks, batch_seconds: (performance.now() - started) / 1000 };
  log.measure("chunks embedded", { job_id: jobId, ...EMBED.fields({}, values, Date.now()) });
}

/** Runs a search, and records in one line how long it took. */
export async function measured<T extends { results: readonly unknown[]; missing: readonly unknown[] }>(
  log: Logger,
  mode: string,
  run: () => Promise<T>,
): Promise<{ answer: T; latencyMs: number }> {
  const started = performance.now();
  const record = (results: number, failures: number, partial: number): number => {
    const latencyMs = performance.now() - started;
    const values = { request_seconds: latencyMs / 1000, results, failures, partial };
    log.measure("searched", SEARCH.fields({ mode }, values, Date.now()));
    return latencyMs;
  };
  let answer: T;
  try {
    answer = await run();
  } catch (error) {
    record(0, 1, 0);
    throw error;
  }
  return { answer, latencyMs: record(answer.results.length, 0, answer.missing.length) };
}
