import { describe, expect, it } from "vitest";
import { DECLARED } from "../../../../local/metrics/declared.ts";
import { MAX_URLS_PER_TASK } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import {
  counter,
  counterBy,
  histogram,
  MAX_VALUES,
  metricSet,
  valueName,
} from "../../../../shared/platform/observability/metrics.ts";

const NOW = 1_800_000_000_000;
const CACHE = metricSet("cache", ["tier"], {
  lookups: counterBy("outcome", ["hit", "miss"], "Questions"),
  evictions: counter("Entries that went"),
  lookup_seconds: histogram("Time of a question", "Seconds", [0.1, 1]),
});

describe("a line of metrics", () => {
  it("is CloudWatch's embedded metric format: each value of a closed list is a metric of its own", () => {
    const values = { lookups: { hit: 3 }, evictions: 1, lookup_seconds: [0.2, 0.4] };
    expect(CACHE.fields({ tier: "memory" }, values, NOW)).toEqual({
      component: "cache",
      tier: "memory",
      lookups_hit: 3,
      evictions: 1,
      lookup_seconds: [0.2, 0.4],
      _aws: {
        Timestamp: NOW,
        CloudWatchMetrics: [
          {
            Namespace: "Strandline",
            Dimensions: [["component", "tier"]],
            Metrics: [
              { Name: "lookups_hit", Unit: "Count" },
              { Name: "evictions", Unit: "Count" },
              { Name: "lookup_seconds", Unit: "Seconds" },
            ],
          },
        ],
      },
    });
  });

  it("tells nothing of a metric without a value: CloudWatch refuses an empty list", () => {
    const fields = CACHE.fields({ tier: "memory" }, { lookup_seconds: [], evictions: 0 }, NOW);
    expect(JSON.stringify(fields)).not.toContain("lookup_seconds");
    expect(fields).toMatchObject({ evictions: 0 });
  });

  it("holds as many values as CloudWatch takes, and a fetch task has no more", () => {
    const of = (count: number) => CACHE.fields({ tier: "memory" }, { lookup_seconds: Array(count).fill(1) }, NOW);
    expect(of(MAX_VALUES)["lookup_seconds"]).toHaveLength(100);
    expect(() => of(MAX_VALUES + 1)).toThrow(/lookup_seconds has 101 values/);
    expect(MAX_URLS_PER_TASK).toBeLessThanOrEqual(MAX_VALUES);
  });

  it("is written at any log level, with the fields of its logger", () => {
    const lines: string[] = [];
    const log = createLogger({ function: "f" }, "error", (line) => lines.push(line)).with({ job_id: "j" });
    log.info("not told");
    log.measure("asked", CACHE.fields({ tier: "disk" }, { evictions: 2 }, NOW));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: "info", message: "asked", function: "f", job_id: "j", tier: "disk", evictions: 2 },
    ]);
  });
});

/** Names that have more values than anybody would count by. */
const WITHOUT_END = /(^|_)(host|domain|url|uri|path|query|id|key|ip|user|proxy|collection|tag|message)s?$/;

describe.each(DECLARED.map((set) => [set.component, set] as const))("the metrics of %s", (_name, set) => {
  const metrics = Object.entries(set.metrics);

  it("are told apart by what has few values", () => {
    const labels = metrics.flatMap(([, metric]) => (metric.kind === "counter by" ? [metric.label] : []));
    for (const name of [...set.dimensions, ...labels]) expect(name).not.toMatch(WITHOUT_END);
    for (const [, metric] of metrics) {
      if (metric.kind === "counter by") expect(new Set(metric.values).size).toBe(metric.values.length);
    }
    // of CloudWatch, with the component
    expect(set.dimensions.length).toBeLessThan(30);
  });

  it("are named after what they count, in base units, and say what they mean", () => {
    for (const [name, { kind, unit, help }] of metrics) {
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(name.endsWith("_seconds"), name).toBe(unit === "Seconds");
      expect(name.endsWith("_bytes"), name).toBe(unit === "Bytes");
      expect(name).not.toMatch(/_(ms|total|count|sum|bucket)$/);
      expect(help.length, `${name}: ${kind}`).toBeGreaterThan(10);
    }
  });

  it("have buckets that grow", () => {
    for (const [, metric] of metrics) {
      if (metric.kind !== "histogram") continue;
      expect(metric.buckets).toEqual([...new Set(metric.buckets)].sort((a, b) => a - b));
    }
  });
});

it("no two metrics of a component share a name in CloudWatch", () => {
  const names = DECLARED.flatMap(({ component, metrics }) =>
    Object.entries(metrics).flatMap(([name, metric]) => {
      const each = metric.kind === "counter by" ? metric.values.map((value) => valueName(name, value)) : [name];
      return each.map((one) => `${component}.${one}`);
    }),
  );
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
