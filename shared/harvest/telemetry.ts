/** What a run leaves in the log and the metrics: who answered, how fast, how far they agree, why a run failed. */
import { ApiError } from "../platform/errors.ts";
import type { Logger } from "../platform/observability/log.ts";
import { counter, counterBy, histogram, metricSet, SECONDS } from "../platform/observability/metrics.ts";
import type { ProviderRun } from "./provider-run.ts";
import { PROVIDER_NAMES } from "./providers/registry.ts";

const URLS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500];
/** How many providers may find the same URL. */
const CONFIDENCES = PROVIDER_NAMES.map((_, index) => String(index + 1));

export const PROVIDERS = metricSet("harvest", ["provider"], {
  provider_asked: counter("Times that a provider was to be asked, those for which it lacks a key included"),
  provider_success: counter("Of these, times that it answered without a fault"),
  provider_seconds: histogram("Time of a provider's requests for one run", "Seconds", SECONDS),
  provider_urls: histogram("URLs that a provider returned for one run", "Count", URLS),
});

export const RUNS = metricSet("harvest", [], {
  run_seconds: histogram("Time for a run that was stored", "Seconds", SECONDS),
  unique_urls: histogram("Distinct URLs of a run", "Count", URLS),
  confidence: counterBy("providers", CONFIDENCES, "Distinct URLs by how many providers found them"),
});

export const FAILURES = metricSet("harvest", ["reason"], {
  runs_failed: counter("Runs that were refused or failed, by the code of their error"),
});

/**
 * One line for each provider, of failed runs too: a success rate without them would be none. What it was asked holds
 * the question's words, so it is logged at level `debug` alone.
 * @param runId undefined where nothing was stored
 */
export function recordProviders(
  log: Logger,
  runs: readonly ProviderRun[],
  now: number,
  runId: number | undefined,
): void {
  const runLog = runId === undefined ? log : log.with({ run_id: runId });
  for (const { provider, queryUsed, latencyMs, urls, requests, skipped, error } of runs) {
    const values = {
      provider_asked: 1,
      provider_success: error === null ? 1 : 0,
      // who was not asked was not fast
      ...(requests > 0 && { provider_seconds: latencyMs / 1000 }),
      provider_urls: urls.length,
    };
    runLog.measure("provider asked", { requests, skipped, error, ...PROVIDERS.fields({ provider }, values, now) });
    runLog.debug("provider query", { provider, query_used: queryUsed });
  }
}

interface StoredOutcome {
  runId: number;
  cached: boolean;
  merged: readonly { confidence: number }[];
}

/** One line for a stored run. */
export function recordRun(log: Logger, { runId, cached, merged }: StoredOutcome, now: number, started: number): void {
  const overlap = CONFIDENCES.map((providers) => {
    return [providers, merged.filter(({ confidence }) => String(confidence) === providers).length] as const;
  });
  const values = {
    run_seconds: (now - started) / 1000,
    unique_urls: merged.length,
    confidence: Object.fromEntries(overlap),
  };
  log.measure("run stored", { run_id: runId, template_cached: cached, ...RUNS.fields({}, values, now) });
}

/** Codes whose details hold the reasons of services, and no word of the question. */
const TELLING = new Set(["LLM_FAILED", "PROVIDERS_FAILED"]);

/** Failed runs by reason: `LLM_FAILED`, `INVALID_SCHEMA`, `PROVIDERS_FAILED`, … */
export function recordFailure(log: Logger, error: unknown, now: number): void {
  const { code, details } = error instanceof ApiError ? error : { code: "INTERNAL_ERROR", details: undefined };
  const why = TELLING.has(code) && { details: details?.["text"] };
  log.warn("run failed", { reason: code, ...why });
  log.measure("run failed", FAILURES.fields({ reason: code }, { runs_failed: 1 }, now));
}
