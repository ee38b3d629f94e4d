/** What a run leaves in the log and the metrics: who answered, how fast, how far they agree, why a run failed. */
import { metricFields } from "../platform/emf.ts";
import { ApiError } from "../platform/errors.ts";
import type { Logger } from "../platform/log.ts";
import type { ProviderRun } from "./provider-run.ts";
import { PROVIDER_NAMES } from "./providers/registry.ts";

/**
 * One line for each provider, of failed runs too: a success rate without them would be none. What it was asked holds the
 * question's words, so it is told at level `debug` alone.
 * @param runId undefined where nothing was stored
 */
export function tellProviders(log: Logger, runs: readonly ProviderRun[], now: number, runId: number | undefined): void {
  const told = runId === undefined ? log : log.with({ run_id: runId });
  for (const { provider, queryUsed, latencyMs, urls, requests, skipped, error } of runs) {
    const metrics = {
      // who was not asked was not fast
      ...(requests > 0 && { provider_ms: [latencyMs, "Milliseconds"] as const }),
      provider_urls: [urls.length, "Count"],
      provider_success: [error === null ? 1 : 0, "Count"],
    } as const;
    told.info("provider asked", { requests, skipped, error, ...metricFields({ provider }, metrics, now) });
    told.debug("provider query", { provider, query_used: queryUsed });
  }
}

interface StoredOutcome {
  runId: number;
  cached: boolean;
  merged: readonly { confidence: number }[];
}

/** One line for a stored run; `confidence_N`: URLs that N providers found. */
export function tellRun(log: Logger, { runId, cached, merged }: StoredOutcome, now: number, started: number): void {
  const overlap = PROVIDER_NAMES.map((_, index) => {
    const count = merged.filter(({ confidence }) => confidence === index + 1).length;
    return [`confidence_${index + 1}`, [count, "Count"]] as const;
  });
  log.info("run stored", {
    run_id: runId,
    template_cached: cached,
    ...metricFields(
      { component: "harvest" },
      {
        run_ms: [now - started, "Milliseconds"],
        unique_urls: [merged.length, "Count"],
        ...Object.fromEntries(overlap),
      },
      now,
    ),
  });
}

/** Codes whose details hold the reasons of services, and no word of the question. */
const TELLING = new Set(["LLM_FAILED", "PROVIDERS_FAILED"]);

/** Failed runs by reason: `LLM_FAILED`, `INVALID_SCHEMA`, `PROVIDERS_FAILED`, … */
export function tellFailure(log: Logger, error: unknown, now: number): void {
  const { code, details } = error instanceof ApiError ? error : { code: "INTERNAL_ERROR", details: undefined };
  const why = TELLING.has(code) && { details: details?.["text"] };
  log.warn("run failed", { ...why, ...metricFields({ reason: code }, { runs_failed: [1, "Count"] }, now) });
}
