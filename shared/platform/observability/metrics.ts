/**
 * The one way to declare metrics and to write them. Written they are fields of a log line in CloudWatch's embedded
 * metric format: AWS makes metrics of them without a call, and the local runtime collects them for `GET /metrics`.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 *
 * @example
 * const CACHE = metricSet("cache", [], { lookups: counterBy("outcome", ["hit", "miss"], "Questions to the cache") });
 * log.measure("cache asked", CACHE.fields({}, { lookups: { hit: 3 } }, Date.now()));
 */
import { loadConfig } from "../config.ts";
import { once } from "../once.ts";

type Unit = "Count" | "Seconds" | "Bytes";

interface Described {
  unit: Unit;
  help: string;
}

/** A sum that only grows. */
export interface Counter extends Described {
  kind: "counter";
}

/**
 * A counter for each of a closed list of values: in CloudWatch each is a metric of its own, so that one line holds all.
 */
export interface CounterBy<Value extends string = string> extends Described {
  kind: "counter by";
  label: string;
  values: readonly Value[];
}

/** Single values, told with their distribution. */
export interface Histogram extends Described {
  kind: "histogram";
  /** Upper bounds, growing; above the last one is infinity. */
  buckets: readonly number[];
}

export type Metric = Counter | CounterBy | Histogram;

export const counter = (help: string, unit: Unit = "Count"): Counter => ({ kind: "counter", unit, help });

export const counterBy = <Value extends string>(
  label: string,
  values: readonly Value[],
  help: string,
): CounterBy<Value> => ({ kind: "counter by", unit: "Count", label, values, help });

/** Declares a distribution; `buckets` are upper bounds, ascending. */
export const histogram = (help: string, unit: Unit, buckets: readonly number[]): Histogram => ({
  kind: "histogram",
  unit,
  buckets,
  help,
});

/** Bounds in seconds: from what an index answers to the longest that a function may take. */
export const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

type Value<M extends Metric> =
  M extends CounterBy<infer Name>
    ? Partial<Record<Name, number>>
    : M extends Histogram
      ? number | readonly number[]
      : number;
type Values<Metrics extends Record<string, Metric>> = { readonly [Name in keyof Metrics]?: Value<Metrics[Name]> };

/** Metrics that are told apart by the same dimensions, and so fit one line. */
export interface MetricSet<
  Dimension extends string = string,
  Metrics extends Record<string, Metric> = Record<string, Metric>,
> {
  /** The part of the system: a dimension of all of them, and the beginning of their Prometheus names. */
  component: string;
  /** Of few values each, which the code knows: no host, URL, id or words. Each combination is billed by CloudWatch. */
  dimensions: readonly Dimension[];
  metrics: Metrics;
  /**
   * @returns fields for `Logger.measure`
   * @throws RangeError above `MAX_VALUES`
   */
  fields(dimensions: Record<Dimension, string>, values: Values<Metrics>, now: number): Record<string, unknown>;
}

/** Single values of one metric in one line. */
export const MAX_VALUES = 100;

/**
 * Declares the metrics of one component.
 * @param dimensions what tells lines apart, of few values each
 * @example
 * const cache = metricSet("cache", [], { lookups: counterBy("outcome", ["hit", "miss"], "Questions to the cache") });
 * cache.fields({}, { lookups: { hit: 3 } }, 0).lookups_hit // => 3
 */
export function metricSet<const Dimension extends string, const Metrics extends Record<string, Metric>>(
  component: string,
  dimensions: readonly Dimension[],
  metrics: Metrics,
): MetricSet<Dimension, Metrics> {
  return {
    component,
    dimensions,
    metrics,
    fields(apart, values, now) {
      const told = Object.entries(metrics).flatMap(([name, metric]) => entriesOf(name, metric, values[name]));
      return {
        component,
        ...apart,
        ...Object.fromEntries(told.map(({ name, value }) => [name, value])),
        _aws: {
          Timestamp: now,
          CloudWatchMetrics: [
            {
              Namespace: namespace(),
              Dimensions: [["component", ...dimensions]],
              Metrics: told.map(({ name, unit }) => ({ Name: name, Unit: unit })),
            },
          ],
        },
      };
    },
  };
}

/** The name of one value of a `CounterBy` in CloudWatch. */
export const valueName = (metric: string, value: string): string => `${metric}_${value}`;

interface Told {
  name: string;
  value: number | readonly number[];
  unit: Unit;
}

function entriesOf(name: string, { kind, unit }: Metric, value: unknown): Told[] {
  if (value === undefined) return [];
  if (kind === "counter by") {
    return Object.entries(value as Record<string, number>).map(([each, amount]) => {
      return { name: valueName(name, each), value: amount, unit };
    });
  }
  const told = value as number | readonly number[];
  if (typeof told === "number") return [{ name, value: told, unit }];
  if (told.length > MAX_VALUES) throw new RangeError(`${name} has ${told.length} values; a line holds ${MAX_VALUES}`);
  // CloudWatch refuses an empty list
  return told.length === 0 ? [] : [{ name, value: told, unit }];
}

const namespace = once(() => loadConfig().metricsNamespace);
