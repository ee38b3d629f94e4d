/**
 * A service that runs while messages wait: one task as soon as there is one, more for many messages where it may have
 * more, and none after a quarter of an hour without. Messages that are being tried count as well: those of a server
 * count that found it still starting.
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
/** Messages. */
const THRESHOLD = 1;

export interface ScaleOnQueuesProps {
  service: BaseService;
  clusterName: string;
  /** Names on AWS. */
  queues: readonly string[];
  /** Tasks while nothing waits. */
  idle: number;
  /** Tasks at the most; one where it is left out. */
  most?: number;
  /** Messages for which one task is enough. */
  messagesEach?: number;
  /** What it is that waits. */
  about?: string;
}

export class ScaleOnQueues extends Construct {
  constructor(scope: Construct, id: string, props: ScaleOnQueuesProps) {
    super(scope, id);
    const {
      service,
      clusterName,
      queues,
      idle,
      most = 1,
      messagesEach = 1,
      about = "Texts wait to be embedded",
    } = props;
    const scalingTarget = new ScalableTarget(this, "Tasks", {
      serviceNamespace: ServiceNamespace.ECS,
      resourceId: `service/${clusterName}/${service.serviceName}`,
      scalableDimension: "ecs:service:DesiredCount",
      minCapacity: idle,
      maxCapacity: most,
      role: this.scalingRole(),
    });
    const metric = messagesIn(queues);
    const adjust = (name: string, steps: readonly Step[]) => {
      const action = new StepScalingAction(this, name, {
        scalingTarget,
        adjustmentType: AdjustmentType.EXACT_CAPACITY,
      });
      for (const { tasks: adjustment, ...bounds } of steps) action.addAdjustment({ adjustment, ...bounds });
      return new ApplicationScalingAction(action);
    };
    const common = { metric, threshold: THRESHOLD, treatMissingData: TreatMissingData.IGNORE };
    new Alarm(this, "Work", {
      ...common,
      alarmDescription: `${about}: as many tasks run as that takes`,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    }).addAlarmAction(adjust("Start", stepsOf(most, messagesEach)));
    new Alarm(this, "NoWork", {
      ...common,
      alarmDescription: `${about} no longer, for a quarter of an hour: no task runs`,
      evaluationPeriods: IDLE_PERIODS,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    }).addAlarmAction(adjust("Stop", [{ tasks: 0, upperBound: 0 }]));
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

interface Step {
  tasks: number;
  /** Messages beyond the threshold. */
  lowerBound?: number;
  upperBound?: number;
}

/** Twice as many tasks for twice as many messages; few steps, since a policy takes twenty. */
function stepsOf(most: number, messagesEach: number): Step[] {
  const steps: Step[] = [];
  for (let tasks = 1; ; tasks *= 2) {
    const lowerBound = steps.at(-1)?.upperBound ?? 0;
    if (tasks >= most) return [...steps, { tasks: most, lowerBound }];
    steps.push({ tasks, lowerBound, upperBound: tasks * messagesEach });
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
