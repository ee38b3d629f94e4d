/** All metrics that functions write, and their names in Prometheus. */
import { FETCH } from "../../shared/crawl/fetch/metrics.ts";
import { INGEST } from "../../shared/crawl/ingest/metrics.ts";
import { JOBS } from "../../shared/crawl/jobs/metrics.ts";
import { CIRCUIT } from "../../shared/crawl/politeness/metrics.ts";
import { DEAD_LETTERS, SWEEP } from "../../shared/crawl/recovery/metrics.ts";
import { RENDER } from "../../shared/crawl/rendering/metrics.ts";
import { STREAM } from "../../shared/crawl/results/metrics.ts";
import { FAILURES, PROVIDERS, RUNS } from "../../shared/harvest/telemetry.ts";
import { EMBED, SEARCH } from "../../shared/knowledge/metrics.ts";
import { DRAINED } from "../../shared/platform/observability/drained.ts";
import type { Metric, MetricSet } from "../../shared/platform/observability/metrics.ts";

export type DeclaredSet = Pick<MetricSet, "component" | "dimensions" | "metrics">;

export const DECLARED: readonly DeclaredSet[] = [
  FETCH,
  CIRCUIT,
  INGEST,
  EMBED,
  RENDER,
  JOBS,
  STREAM,
  SEARCH,
  PROVIDERS,
  RUNS,
  FAILURES,
  DEAD_LETTERS,
  DRAINED,
  SWEEP,
];

export const PREFIX = "strandline_";

export function prometheusName(component: string, name: string, { kind }: Metric): string {
  return `${PREFIX}${component}_${name}${kind === "histogram" ? "" : "_total"}`;
}
