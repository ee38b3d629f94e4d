import { describe, expect, it } from "vitest";
import { collectMetrics } from "../../../local/metrics/collector.ts";
import { DECLARED, prometheusName } from "../../../local/metrics/declared.ts";
import { createRegistry } from "../../../local/metrics/registry.ts";
import { expositionText } from "../../../shared/platform/observability/exposition.ts";
import { createLogger, type LogFields } from "../../../shared/platform/observability/log.ts";
import {
  counter,
  counterBy,
  histogram,
  type MetricSet,
  metricSet,
} from "../../../shared/platform/observability/metrics.ts";
import { readPrometheusText, sampleOf } from "../../services/prometheus-text.ts";

const TRAINS = metricSet("trains", ["line"], {
  arrivals: counterBy("how", ["early", "late"], "Trains that came"),
  wait_seconds: histogram("Waiting", "Seconds", [1, 10]),
});
const TICKETS = metricSet("tickets", [], {
  sold: counter("Tickets"),
  refused: counterBy("why", ["full", "closed"], "Refusals"),
  price_bytes: histogram("Length", "Bytes", [5]),
});

function collected(sets: readonly Pick<MetricSet, "component" | "dimensions" | "metrics">[] = [TRAINS, TICKETS]) {
  const registry = createRegistry();
  const unknown: string[] = [];
  const take = collectMetrics(registry, (reason) => unknown.push(reason), sets);
  const log = createLogger({ function: "f" }, "info", take);
  const tell = (fields: LogFields) => log.measure("told", fields);
  return { tell, take, unknown, log, read: () => readPrometheusText(expositionText(registry.families())) };
}

describe("what functions tell in their log lines", () => {
  it("adds up, told apart by dimensions and by the values of closed lists", () => {
    const { tell, read, unknown } = collected();
    tell(TRAINS.fields({ line: "red" }, { arrivals: { early: 1, late: 2 }, wait_seconds: [0.5, 10, 11] }, 1));
    tell(TRAINS.fields({ line: "red" }, { arrivals: { late: 3 }, wait_seconds: 1 }, 2));
    tell(TRAINS.fields({ line: "blue" }, { arrivals: { early: 1 } }, 3));
    const families = read();
    const arrivals = (line: string, how: string) =>
      sampleOf(families, "strandline_trains_arrivals_total", { line, how });
    expect([arrivals("red", "early"), arrivals("red", "late"), arrivals("blue", "early")]).toEqual([1, 5, 1]);
    const waits = families.get("strandline_trains_wait_seconds");
    expect(waits?.samples.map(({ name, labels, value }) => [name.slice(30), labels["le"], value])).toEqual([
      ["_bucket", "1", 2],
      ["_bucket", "10", 3],
      ["_bucket", "+Inf", 4],
      ["_sum", undefined, 22.5],
      ["_count", undefined, 4],
    ]);
    expect(unknown).toEqual([]);
  });

  it("is told as 0 before it happens, where all its series are known", () => {
    const families = collected().read();
    expect(sampleOf(families, "strandline_tickets_sold_total")).toBe(0);
    expect(sampleOf(families, "strandline_tickets_refused_total", { why: "closed" })).toBe(0);
    expect(sampleOf(families, "strandline_tickets_price_bytes_count")).toBe(0);
    expect(families.has("strandline_trains_arrivals_total")).toBe(false);
  });

  it("is not taken from lines that only speak of it", () => {
    const { log, take, read, unknown } = collected();
    const line = JSON.stringify({ component: "tickets", sold: 5, ...TICKETS.fields({}, { sold: 5 }, 1) });
    log.info(line);
    log.info("a page", { text: line });
    take("no JSON, though it says _aws");
    expect(sampleOf(read(), "strandline_tickets_sold_total")).toBe(0);
    expect(unknown).toEqual([]);
  });

  it("that nobody declared, or that is no number, is said and not counted", () => {
    const { tell, take, read, unknown } = collected();
    const OTHER = metricSet("tickets", ["line"], { sold: counter("Tickets") });
    tell(OTHER.fields({ line: "red" }, { sold: 1 }, 1));
    tell({ ...TICKETS.fields({}, { sold: 1 }, 1), sold: "1" });
    take('{"_aws":{"CloudWatchMetrics":"none"}}');
    expect(unknown).toEqual([
      expect.stringContaining("tickets declares no metric sold by line"),
      expect.stringContaining("sold of tickets is no number"),
      expect.stringContaining("not the embedded metric format"),
    ]);
    expect(sampleOf(read(), "strandline_tickets_sold_total")).toBe(0);
  });
});

describe("the text", () => {
  it("escapes what would break a line", () => {
    const samples = [{ labels: { a: 'say "no"\\\nor\\n' }, value: 1e-9 }];
    const family = { name: "strandline_odd", type: "gauge", help: "one\\two\nthree", samples } as const;
    const text = expositionText([family]);
    expect(text.split("\n")).toHaveLength(4);
    expect(readPrometheusText(text).get("strandline_odd")).toEqual({
      type: "gauge",
      help: family.help,
      samples: [{ name: family.name, ...samples[0] }],
    });
  });

  it("leaves out what has no sample", () => {
    expect(expositionText([{ name: "strandline_none", type: "gauge", help: "Nothing", samples: [] }])).toBe("");
  });

  it("of all declared metrics is valid from the start, and after each was told once", () => {
    const { tell, read, unknown } = collected(DECLARED);
    read();
    for (const set of DECLARED) {
      const apart = Object.fromEntries(set.dimensions.map((name) => [name, `some "${name}"`]));
      const full = metricSet(set.component, set.dimensions, set.metrics);
      const values = Object.entries(set.metrics).map(([name, metric]) => {
        const first = metric.kind === "counter by" ? { [metric.values[0] ?? ""]: 2 } : 2;
        return [name, first] as const;
      });
      tell(full.fields(apart, Object.fromEntries(values), 1));
    }
    expect(unknown).toEqual([]);
    const names = DECLARED.flatMap(({ component, metrics }) =>
      Object.entries(metrics).map(([name, metric]) => prometheusName(component, name, metric)),
    );
    expect([...read().keys()].sort()).toEqual(names.sort());
  });
});

it("a name is declared once", () => {
  const registry = createRegistry();
  registry.counter("strandline_a_total", "A");
  expect(() => registry.histogram("strandline_a_total", "A", [1])).toThrow(/declared twice/);
});

describe("the reader of the tests refuses", () => {
  it.each([
    ["a line without its end", "# HELP a A\n# TYPE a gauge\na 1"],
    ["a sample before its family", "a 1\n"],
    ["a TYPE of another name", "# HELP a A\n# TYPE b gauge\nb 1\n"],
    ["a counter without _total", "# HELP a A\n# TYPE a counter\na 1\n"],
    ["a sample twice", '# HELP a A\n# TYPE a gauge\na{b="1"} 1\na{b="1"} 2\n'],
    ["a quote inside a label", '# HELP a A\n# TYPE a gauge\na{b="1"2"} 1\n'],
    ["what is no number", "# HELP a A\n# TYPE a gauge\na 1,5\n"],
    ["a family in two pieces", "# HELP a A\n# TYPE a gauge\na 1\n# HELP a A\n# TYPE a gauge\na 2\n"],
    ["a histogram whose buckets fall", histogramText(3, 2, 2)],
    ["a histogram that counts other than its last bucket", histogramText(1, 2, 3)],
  ])("%s", (_what, text) => {
    expect(() => readPrometheusText(text)).toThrow();
  });

  it("and takes what is right", () => {
    expect(readPrometheusText(histogramText(1, 2, 2)).get("h")?.samples).toHaveLength(4);
  });
});

function histogramText(low: number, all: number, count: number): string {
  return `# HELP h H\n# TYPE h histogram\nh_bucket{le="1"} ${low}\nh_bucket{le="+Inf"} ${all}\nh_sum 1\nh_count ${count}\n`;
}
