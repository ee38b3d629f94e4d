/**
 * CloudWatch's embedded metric format: fields of a log line that become metrics, without a call.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */

type Unit = "Count" | "Milliseconds" | "None";

const NAMESPACE = "Strandline";

/**
 * @param dimensions what the metrics are told apart by; few values each, for each combination is billed
 * @returns fields for `Logger`
 */
export function metricFields(
  dimensions: Record<string, string>,
  metrics: Record<string, readonly [value: number, unit: Unit]>,
  now: number,
): Record<string, unknown> {
  const entries = Object.entries(metrics);
  return {
    ...dimensions,
    ...Object.fromEntries(entries.map(([name, [value]]) => [name, value])),
    _aws: {
      Timestamp: now,
      CloudWatchMetrics: [
        {
          Namespace: NAMESPACE,
          Dimensions: [Object.keys(dimensions)],
          Metrics: entries.map(([Name, [, Unit]]) => ({ Name, Unit })),
        },
      ],
    },
  };
}
