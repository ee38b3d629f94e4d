/** What log lines tell as metrics, as CloudWatch reads them. */

interface Directive {
  Namespace: string;
  Dimensions: string[][];
  Metrics: { Name: string; Unit: string }[];
}

type Values = Record<string, number | number[]>;

/**
 * Sums by metric; single values stand as they came.
 * @param component whose lines; dimensions as far as given
 */
export function measuredIn(
  lines: readonly string[],
  component: string,
  dimensions: Record<string, string> = {},
): Values {
  const totals: Values = {};
  for (const line of lines) {
    const fields = JSON.parse(line) as Record<string, unknown> & { _aws?: { CloudWatchMetrics: Directive[] } };
    const apart = Object.entries(dimensions).every(([name, value]) => fields[name] === value);
    if (fields["component"] !== component || !apart) continue;
    for (const { Metrics } of fields._aws?.CloudWatchMetrics ?? []) {
      for (const { Name } of Metrics) add(totals, Name, fields[Name] as number | number[]);
    }
  }
  return totals;
}

function add(totals: Values, name: string, value: number | number[]): void {
  const before = totals[name];
  if (Array.isArray(value)) totals[name] = [...(Array.isArray(before) ? before : []), ...value];
  else totals[name] = (typeof before === "number" ? before : 0) + value;
}
