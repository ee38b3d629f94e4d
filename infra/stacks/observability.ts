/**
 * A page of graphs, and alarms: each says what it means and links to the section of the runbook that says what to do.
 */
import { Duration, Stack, type StackProps } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { Construct } from "constructs";
import { WorkDashboard } from "../constructs/dashboard.ts";
import { queuesByName } from "../constructs/queue-pair.ts";
import { functionNamed } from "../constructs/strandline-function.ts";
import { metricsNamespace, type Settings } from "../settings.ts";
import { TOPOLOGY } from "../topology.ts";
import type { ApiStack } from "./api.ts";
import type { DataStack } from "./data.ts";

export interface ObservabilityStackProps extends StackProps {
  settings: Settings;
  data: DataStack;
  api: ApiStack;
}

const RUNBOOK = "docs/operations.md";
const PERIOD = Duration.minutes(5);
/** Crawls wait politely for their hosts; a message this old waits for something else. */
const OLDEST_MESSAGE = Duration.minutes(30);

interface AlarmSpec {
  name: string;
  meaning: string;
  /** Heading in the runbook, as its anchor. */
  section: string;
  metric: IMetric;
  threshold: number;
  periods?: number;
}

export class ObservabilityStack extends Stack {
  constructor(scope: Construct, id: string, { settings, ...props }: ObservabilityStackProps) {
    super(scope, id, props);
    const topic = new Topic(this, "Alarms", { enforceSSL: true, displayName: `${settings.name} alarms` });
    // a policy that only refuses takes the place of AWS's own, which would let the account's alarms in
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
        actions: ["sns:Publish"],
        resources: [topic.topicArn],
        conditions: { StringEquals: { "aws:SourceAccount": this.account } },
      }),
    );
    if (settings.alarmEmail !== undefined) topic.addSubscription(new EmailSubscription(settings.alarmEmail));
    const action = new SnsAction(topic);
    new WorkDashboard(this, "Work", settings);
    for (const { name, meaning, section, metric, threshold, periods = 1 } of this.alarms(settings, props)) {
      const alarm = new Alarm(this, name, {
        alarmName: `${settings.name}-${name}`,
        alarmDescription: `${meaning} What to do: ${RUNBOOK}#${section}`,
        metric,
        threshold,
        evaluationPeriods: periods,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }

  private alarms(settings: Settings, { data, api }: Pick<ObservabilityStackProps, "data" | "api">): AlarmSpec[] {
    const queues = queuesByName(this, settings.name);
    const queue = (name: string) => {
      const found = queues.get(name);
      if (found === undefined) throw new Error(`The topology names no queue ${name}`);
      return found;
    };
    const ofQueues = TOPOLOGY.queues.map(
      ({ name }): AlarmSpec => ({
        name: `${name}-age`,
        meaning: `The oldest message of ${name} waits for more than ${OLDEST_MESSAGE.toMinutes()} minutes.`,
        section: "old-messages-in-a-queue",
        metric: queue(name).metricApproximateAgeOfOldestMessage({ period: PERIOD, statistic: "Maximum" }),
        threshold: OLDEST_MESSAGE.toSeconds(),
        periods: 3,
      }),
    );
    // what a function with routes of the API fails at is a server error of the API; the replay of captures has none
    const watched = TOPOLOGY.functions.filter(({ routes }) => routes === undefined);
    const ofFunctions = watched.map(
      ({ name, queues = [] }): AlarmSpec => ({
        name: `${name}-errors`,
        meaning: `Invocations of ${name} end with an error.`,
        section: "errors-of-a-function",
        metric: functionNamed(this, settings.name, name).metricErrors({ period: PERIOD, statistic: "Sum" }),
        // a run that empties queues fails where a message stays, and the next one comes minutes later
        threshold: queues.some(({ drainedEveryMinutes }) => drainedEveryMinutes !== undefined) ? 1 : 3,
      }),
    );
    return [
      ...ofQueues,
      ...ofFunctions,
      {
        name: "dead-letters",
        meaning: "Messages could not be handled and went to a dead-letter queue.",
        section: "messages-in-a-dead-letter-queue",
        metric: new Metric({
          namespace: metricsNamespace(settings),
          metricName: "messages",
          dimensionsMap: { component: "drained" },
          statistic: "Sum",
          period: PERIOD,
        }),
        threshold: 1,
      },
      {
        name: "api-5xx",
        meaning: "The API answers with server errors.",
        section: "server-errors-of-the-api",
        metric: api.api.metricServerError({ period: PERIOD, statistic: "Sum" }),
        threshold: 5,
      },
      {
        name: "database-at-its-maximum",
        meaning: "The database runs at its maximum capacity.",
        section: "the-database-at-its-maximum",
        metric: data.cluster.metricACUUtilization({ period: PERIOD, statistic: "Average" }),
        threshold: 95,
        periods: 6,
      },
    ];
  }
}
