/** The dashboard shows what functions write: names that nobody writes would be empty graphs. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { WorkDashboard } from "../../infra/constructs/dashboard.ts";
import { metricsNamespace, readSettings } from "../../infra/settings.ts";
import { DECLARED } from "../../local/metrics/declared.ts";
import { valueName } from "../../shared/platform/observability/metrics.ts";

const NAMESPACE = "Strandline/strandline";

/** Component, dimensions and name in CloudWatch. */
const declared = DECLARED.flatMap(({ component, dimensions, metrics }) =>
  Object.entries(metrics).flatMap(([name, metric]) => {
    const names = metric.kind === "counter by" ? metric.values.map((value) => valueName(name, value)) : [name];
    return names.map((each) => [component, ...dimensions, each].join(" "));
  }),
);

type Row = (string | { expression?: string })[];

function rows(): Row[] {
  const app = new App();
  const stack = new Stack(app, "stack");
  new WorkDashboard(stack, "Work", readSettings(app));
  const [resource] = Object.values(Template.fromStack(stack).findResources("AWS::CloudWatch::Dashboard"));
  const { DashboardBody } = (resource ?? expect.fail("no dashboard"))["Properties"];
  const [separator, pieces] = DashboardBody["Fn::Join"] as [string, unknown[]];
  const body = JSON.parse(pieces.map((piece) => (typeof piece === "string" ? piece : "region")).join(separator));
  return (body as { widgets: { properties: { metrics: Row[] } }[] }).widgets.flatMap((each) => each.properties.metrics);
}

test("each graph shows metrics that are declared, in the namespace of the deployment", () => {
  expect(metricsNamespace(readSettings(new App()))).toBe(NAMESPACE);
  const shown = rows().flatMap((row) => {
    const [first, name, ...rest] = row;
    if (typeof first === "string") {
      expect([first, rest[0]]).toEqual([NAMESPACE, "component"]);
      return [`${rest[1]} ${name}`];
    }
    const search = /^SEARCH\('\{"(.+)",component,(.+)\} component="(\w+)" MetricName="(\w+)"', '\w+', 300\)$/.exec(
      first?.expression ?? "",
    );
    if (search === null) return [];
    const [, namespace, dimensions = "", component, metric] = search;
    expect(namespace).toBe(NAMESPACE);
    return [[component, ...dimensions.split(","), metric].join(" ")];
  });
  expect(shown.filter((each) => each.split(" ").length > 2).length).toBe(6);
  expect(shown.length).toBeGreaterThan(20);
  for (const each of shown) expect(declared).toContain(each);
});

test("docs/deploy.md says how many metrics there are", async () => {
  const text = await readFile(join(import.meta.dirname, "../../docs/deploy.md"), "utf8");
  const single = declared.filter((each) => each.split(" ").length === 2);
  expect(text).toContain(`${single.length} metrics that are told apart by nothing`);
});
