/** Adds up what the log lines of functions say in CloudWatch's embedded metric format. */
import { z } from "zod";
import type { Labels } from "../../shared/platform/observability/exposition.ts";
import { valueName } from "../../shared/platform/observability/metrics.ts";
import { DECLARED, type DeclaredSet, prometheusName } from "./declared.ts";
import type { Registry } from "./registry.ts";

const valueSchema = z.union([z.number().transform((value) => [value]), z.array(z.number())]);

const lineSchema = z.looseObject({
  component: z.string(),
  _aws: z.object({
    CloudWatchMetrics: z.array(
      z.object({
        Dimensions: z.array(z.array(z.string())).length(1),
        Metrics: z.array(z.object({ Name: z.string() })),
      }),
    ),
  }),
});
type Line = z.infer<typeof lineSchema>;

type Add = (labels: Labels, values: readonly number[]) => void;

/**
 * @param onUnknown told why a line is not counted
 * @returns takes each line that a function prints
 */
export function collectMetrics(
  registry: Registry,
  onUnknown: (reason: string) => void,
  sets: readonly DeclaredSet[] = DECLARED,
): (line: string) => void {
  const known = new Map(sets.flatMap((set) => adders(registry, set)));
  return (line) => {
    // nearly all lines have none
    if (!line.includes('"_aws":{')) return;
    const parsed = lineSchema.safeParse(parse(line));
    if (!parsed.success) return onUnknown(`not the embedded metric format: ${parsed.error.message}`);
    for (const { Dimensions, Metrics } of parsed.data._aws.CloudWatchMetrics) {
      const names = (Dimensions[0] ?? []).filter((name) => name !== "component");
      const labels = Object.fromEntries(names.map((name) => [name, String(parsed.data[name])]));
      for (const { Name } of Metrics) {
        const fault = add(known, parsed.data, Name, labels);
        if (fault !== undefined) onUnknown(fault);
      }
    }
  };
}

function add(known: ReadonlyMap<string, Add>, line: Line, name: string, labels: Labels): string | undefined {
  const adder = known.get(keyOf(line.component, Object.keys(labels), name));
  const values = valueSchema.safeParse(line[name]);
  if (adder === undefined) return `${line.component} declares no metric ${name} by ${Object.keys(labels).join(", ")}`;
  if (!values.success) return `${name} of ${line.component} is no number`;
  adder(labels, values.data);
  return undefined;
}

const keyOf = (component: string, dimensions: readonly string[], name: string): string =>
  JSON.stringify([component, dimensions, name]);

/** What adds to each metric of the set, by component, dimensions and name in CloudWatch. */
function adders(registry: Registry, { component, dimensions, metrics }: DeclaredSet): [string, Add][] {
  return Object.entries(metrics).flatMap(([name, metric]): [string, Add][] => {
    const full = prometheusName(component, name, metric);
    const key = (each: string): string => keyOf(component, dimensions, each);
    // without dimensions all series are known from the start
    const atStart = dimensions.length === 0;
    if (metric.kind === "histogram") {
      const family = registry.histogram(full, metric.help, metric.buckets, atStart ? [{}] : []);
      return [[key(name), (labels, values) => values.forEach((value) => void family.observe(labels, value))]];
    }
    if (metric.kind === "counter") {
      const family = registry.counter(full, metric.help, atStart ? [{}] : []);
      return [[key(name), (labels, values) => family.add(labels, sum(values))]];
    }
    const known = atStart ? metric.values.map((value) => ({ [metric.label]: value })) : [];
    const family = registry.counter(full, metric.help, known);
    return metric.values.map((value) => {
      const to: Add = (labels, values) => family.add({ ...labels, [metric.label]: value }, sum(values));
      return [key(valueName(name, value)), to];
    });
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
