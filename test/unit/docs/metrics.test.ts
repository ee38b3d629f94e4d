import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DECLARED, prometheusName } from "../../../local/metrics/declared.ts";
import { openRuntimeMetrics } from "../../../local/metrics/runtime-metrics.ts";
import { createUsageMeter } from "../../../local/usage/usage.ts";

const GUIDE = join(import.meta.dirname, "../../../docs/guide/metrics.md");

test("the guide has a row for each metric that functions write, as it is declared", async () => {
  const rows = DECLARED.flatMap(({ component, dimensions, metrics }) =>
    Object.entries(metrics).map(([name, metric]) => {
      const by = metric.kind === "counter by" ? [...dimensions, metric.label] : dimensions;
      const labels = by.map((label) => `\`${label}\``).join(", ");
      return `| \`${prometheusName(component, name, metric)}\` | ${metric.unit} | ${labels} | ${metric.help} |`;
    }),
  );
  const told = (await readFile(GUIDE, "utf8")).split("\n");
  expect(told.filter((line) => rows.includes(line))).toEqual(rows);
  const names = DECLARED.map(({ component }) => `strandline_${component}_`);
  const others = told.filter((line) => names.some((name) => line.startsWith(`| \`${name}`)) && !rows.includes(line));
  expect(others).toEqual([]);
});

test("the guide names each metric of the local runtime's own", async () => {
  const { families } = openRuntimeMetrics(["f"], () => undefined);
  const own = families({ pools: [], queues: undefined, usage: createUsageMeter().read() })
    .map(({ name }) => name)
    .filter((name) => !DECLARED.some(({ component }) => name.startsWith(`strandline_${component}_`)));
  expect(own.length).toBeGreaterThan(5);
  const guide = await readFile(GUIDE, "utf8");
  for (const name of own) expect(guide).toContain(`| \`${name}\` |`);
});
