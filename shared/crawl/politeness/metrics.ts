/** Metrics of politeness: how often a host's circuit opened. */
import { counter, metricSet } from "../../platform/observability/metrics.ts";

export const CIRCUIT = metricSet("circuit", [], { openings: counter("Hosts left alone since they failed in a row") });
