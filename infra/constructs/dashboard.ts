/** One page of graphs of what the functions tell of their work, see docs/guide/metrics.md. */
import { Duration } from "aws-cdk-lib";
import { Dashboard, GraphWidget, type IMetric, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { metricsNamespace, type Settings } from "../settings.ts";

const PERIOD = Duration.minutes(5);
const HALF = 12;

export class WorkDashboard extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { metric, search } = readers(metricsNamespace(settings));
    const pages = (outcome: string) => metric("ingest", `pages_${outcome}`, "Sum", outcome);
    const graph = (title: string, left: IMetric[]) => new GraphWidget({ title, left, width: HALF });
    const times = (component: string, name: string) =>
      ["p50", "p95"].map((statistic) => metric(component, name, statistic, `${name} ${statistic}`));
    const failed = new MathExpression({
      expression: "100 * failed / (crawled + failed)",
      usingMetrics: { failed: pages("failed"), crawled: pages("crawled") },
      label: "failed, %",
      period: PERIOD,
    });
    const trouble = ["timeout", "connect", "dns", "http_5xx", "rate_limited", "robots"].map((outcome) =>
      metric("fetch", `pages_${outcome}`, "Sum", outcome),
    );
    new Dashboard(this, "Dashboard", {
      dashboardName: `${settings.name}-work`,
      widgets: [
        [
          graph("Pages by what became of them", ["crawled", "failed", "skipped", "retried"].map(pages)),
          graph("Failed pages", [failed]),
        ],
        [
          graph("Time of a page, s", times("fetch", "page_seconds")),
          graph("Trouble of fetch", [...trouble, metric("circuit", "openings", "Sum", "circuits opened")]),
        ],
        [
          graph("Jobs that ended", [search("jobs", ["kind", "status", "stop_reason"], "ended", "Sum")]),
          graph("Dead letters", [
            search("dead_letters", ["queue"], "received_waiting", "Sum"),
            search("dead_letters", ["queue"], "received_ended", "Sum"),
          ]),
        ],
        [
          graph("Time of a batch, s", [...times("ingest", "batch_seconds"), ...times("embed", "batch_seconds")]),
          graph("Time of a search, p95, s", [search("search", ["mode"], "request_seconds", "p95")]),
        ],
        [
          graph("Providers that answered, 1 = always", [
            search("harvest", ["provider"], "provider_success", "Average"),
          ]),
          graph("Harvester runs that failed", [search("harvest", ["reason"], "runs_failed", "Sum")]),
        ],
      ],
    });
  }
}

function readers(namespace: string) {
  return {
    metric: (component: string, metricName: string, statistic: string, label: string) =>
      new Metric({ namespace, metricName, dimensionsMap: { component }, statistic, label, period: PERIOD }),
    /** All series of a metric, by dimensions whose values are not named here. */
    search: (component: string, dimensions: readonly string[], metricName: string, statistic: string) => {
      const schema = [`"${namespace}"`, "component", ...dimensions].join(",");
      const found = `{${schema}} component="${component}" MetricName="${metricName}"`;
      return new MathExpression({
        expression: `SEARCH('${found}', '${statistic}', ${PERIOD.toSeconds()})`,
        usingMetrics: {},
        label: "",
        period: PERIOD,
      });
    },
  };
}
