import { expect, it } from "vitest";
import type { ProviderRun } from "../../../shared/harvest/provider-run.ts";
import { recordFailure, recordProviders, recordRun } from "../../../shared/harvest/telemetry.ts";
import { ApiError } from "../../../shared/platform/errors.ts";
import { createLogger, type Logger } from "../../../shared/platform/observability/log.ts";

const NOW = 1_800_000_000_000;

function told(tell: (log: Logger) => void, level: "info" | "debug" = "info"): Record<string, unknown>[] {
  const lines: string[] = [];
  tell(createLogger({ function: "harvest-api" }, level, (line) => lines.push(line)));
  return lines.map((line) => JSON.parse(line));
}

/** As CloudWatch reads a line: each metric with its unit, value and dimensions. */
function metricsOf(line: Record<string, unknown> | undefined): Record<string, unknown> {
  const { _aws } = line as {
    _aws: {
      Timestamp: number;
      CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string; Unit: string }[] }[];
    };
  };
  expect(_aws.Timestamp).toBe(NOW);
  const [directive] = _aws.CloudWatchMetrics;
  expect(directive?.Namespace).toBe("Strandline");
  for (const name of directive?.Dimensions.flat() ?? []) expect(line?.[name]).toEqual(expect.any(String));
  return Object.fromEntries((directive?.Metrics ?? []).map(({ Name, Unit }) => [Name, [line?.[Name], Unit]]));
}

const run = (changes: Partial<ProviderRun>): ProviderRun => ({
  provider: "serper",
  queryUsed: "my question",
  urls: [],
  latencyMs: 0,
  requests: 1,
  skipped: 0,
  error: null,
  ...changes,
});

it("latency, success and URLs of each provider, with the run, and the query at level debug alone", () => {
  const runs = [
    run({ latencyMs: 812, urls: ["https://a.example/", "https://b.example/"] }),
    run({ provider: "google", latencyMs: 2500, error: "timeout" }),
    run({ provider: "brave", requests: 0, error: "no key: set BRAVE_KEY" }),
  ];
  const asked = (successes: number) => ({ provider_asked: [1, "Count"], provider_success: [successes, "Count"] });
  const lines = told((log) => recordProviders(log, runs, NOW, 7));
  expect(lines.map(({ run_id, provider, error }) => [run_id, provider, error])).toEqual([
    [7, "serper", null],
    [7, "google", "timeout"],
    [7, "brave", "no key: set BRAVE_KEY"],
  ]);
  expect(lines.map(metricsOf)).toEqual([
    { ...asked(1), provider_seconds: [0.812, "Seconds"], provider_urls: [2, "Count"] },
    { ...asked(0), provider_seconds: [2.5, "Seconds"], provider_urls: [0, "Count"] },
    { ...asked(0), provider_urls: [0, "Count"] },
  ]);
  expect(JSON.stringify(lines)).not.toContain("my question");
  const debug = told((log) => recordProviders(log, runs, NOW, 7), "debug");
  expect(debug.map(({ query_used }) => query_used)).toContain("my question");
});

it("how far the providers agree, as a histogram", () => {
  const url = (confidence: number) => ({ url: "https://a.example/", providers: [], confidence, dedupeHash: "" });
  const outcome = { runId: 7, cached: true, merged: [url(3), url(1), url(1)] };
  const [line] = told((log) => recordRun(log, outcome, NOW, NOW - 950));
  expect(line).toMatchObject({ run_id: 7, template_cached: true });
  expect(metricsOf(line)).toEqual({
    run_seconds: [0.95, "Seconds"],
    unique_urls: [3, "Count"],
    confidence_1: [2, "Count"],
    confidence_2: [0, "Count"],
    confidence_3: [1, "Count"],
    confidence_4: [0, "Count"],
    confidence_5: [0, "Count"],
  });
});

it.each([
  ["LLM_FAILED", "timeout after 5s", "timeout after 5s"],
  ["PROVIDERS_FAILED", "serper:403", "serper:403"],
  // a part of the question may stand in it
  ["INVALID_SCHEMA", 'stray brace in "my question}"', undefined],
])("failed runs by reason: %s", (code, text, details) => {
  const error = new ApiError(502, "failed", { code, details: { text } });
  const [line, measured] = told((log) => recordFailure(log, error, NOW));
  expect(line).toMatchObject({ level: "warn", reason: code });
  expect(line?.["details"]).toBe(details);
  expect(metricsOf(measured)).toEqual({ runs_failed: [1, "Count"] });
});

it("other failures are faults of ours, without their words", () => {
  const [line] = told((log) => recordFailure(log, new Error("my question"), NOW));
  expect(line).toMatchObject({ reason: "INTERNAL_ERROR" });
  expect(JSON.stringify(line)).not.toContain("my question");
});
