/**
 * A service that runs while messages wait: one task as soon as there is one, none after a quarter of an hour without.
 * Messages that are being tried, or wait to be tried again, count as well: those which found the server still starting.
 */
import { Duration, Stack } from "aws-cdk-lib";
import {
  AdjustmentType,
  ScalableTarget,
  ServiceNamespace,
  StepScalingAction,
} from "aws-cdk-lib/aws-applicationautoscaling";
import { Alarm, ComparisonOperator, MathExpression, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { ApplicationScalingAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { BaseService } from "aws-cdk-lib/aws-ecs";
import { Role } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";

const PERIOD = Duration.minutes(1);
const IDLE_PERIODS = 15;

export interface ScaleOnQueuesProps {
  service: BaseService;
  clusterName: string;
  /** Names on AWS. */
  queues: readonly string[];
  /** Tasks while nothing waits. */
  idle: number;
}

export class ScaleOnQueues extends Construct {
  constructor(scope: Construct, id: string, { service, clusterName, queues, idle }: ScaleOnQueuesProps) {
    super(scope, id);
    const scalingTarget = new ScalableTarget(this, "Tasks", {
      serviceNamespace: ServiceNamespace.ECS,
      resourceId: `service/${clusterName}/${service.serviceName}`,
      scalableDimension: "ecs:service:DesiredCount",
      minCapacity: idle,
      maxCapacity: 1,
      role: this.scalingRole(),
    });
    const metric = messagesIn(queues);
    const adjust = (name: string, tasks: number, bound: { lowerBound: number } | { upperBound: number }) => {
      const action = new StepScalingAction(this, name, {
        scalingTarget,
        adjustmentType: AdjustmentType.EXACT_CAPACITY,
      });
      action.addAdjustment({ adjustment: tasks, ...bound });
      return new ApplicationScalingAction(action);
    };
    const common = { metric, threshold: 1, treatMissingData: TreatMissingData.IGNORE };
    new Alarm(this, "Work", {
      ...common,
      alarmDescription: "Texts wait to be embedded: the server is started",
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    }).addAlarmAction(adjust("Start", 1, { lowerBound: 0 }));
    new Alarm(this, "NoWork", {
      ...common,
      alarmDescription: "No text has waited to be embedded for a quarter of an hour: the server is stopped",
      evaluationPeriods: IDLE_PERIODS,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    }).addAlarmAction(adjust("Stop", 0, { upperBound: 0 }));
  }

  /** Of the account, made by AWS at the first use. */
  private scalingRole() {
    const resourceName =
      "aws-service-role/ecs.application-autoscaling.amazonaws.com/AWSServiceRoleForApplicationAutoScaling_ECSService";
    return Role.fromRoleArn(
      this,
      "Role",
      Stack.of(this).formatArn({ service: "iam", region: "", resource: "role", resourceName }),
    );
  }
}

function messagesIn(queues: readonly string[]): MathExpression {
  const metrics = queues.flatMap((QueueName) =>
    ["Visible", "NotVisible"].map(
      (state) =>
        new Metric({
          namespace: "AWS/SQS",
          metricName: `ApproximateNumberOfMessages${state}`,
          dimensionsMap: { QueueName },
          statistic: "Maximum",
          period: PERIOD,
        }),
    ),
  );
  const names = metrics.map((_, index) => `m${index + 1}`);
  return new MathExpression({
    // a queue that nothing was sent to for hours has no figures
    expression: names.map((name) => `FILL(${name}, 0)`).join(" + "),
    usingMetrics: Object.fromEntries(names.map((name, index) => [name, metrics[index] as Metric])),
    period: PERIOD,
  });
}
