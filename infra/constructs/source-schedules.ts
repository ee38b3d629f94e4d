/** The group at EventBridge Scheduler for the schedules of monitored sources, and the role that they fire with. */
import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { ScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { acknowledge, nagName } from "../acknowledge.ts";

export interface SourceSchedules {
  environment: Record<string, string>;
  /** Lets a function make, list and delete schedules of the group, which fire with the one role. */
  allow(lambda: LambdaFunction): void;
}

const TARGET_QUEUE = "source-runs";
const SCHEDULER = "scheduler.amazonaws.com";

/** @param prefix of the names */
export function createSourceSchedules(
  scope: Construct,
  prefix: string,
  queues: ReadonlyMap<string, IQueue>,
): SourceSchedules {
  const queue = queues.get(TARGET_QUEUE);
  if (queue === undefined) throw new Error(`The topology names no queue ${TARGET_QUEUE}`);
  const scheduleGroupName = `${prefix}-sources`;
  // its schedules go with it
  new ScheduleGroup(scope, "SourceSchedules", { scheduleGroupName, removalPolicy: RemovalPolicy.DESTROY });
  const stack = Stack.of(scope);
  const arnOf = (resource: string, resourceName: string) =>
    stack.formatArn({ service: "scheduler", resource, resourceName });
  const role = new Role(scope, "SourceSchedulesRole", {
    // for schedules of this group, and nobody else's
    assumedBy: new ServicePrincipal(SCHEDULER, {
      conditions: {
        StringEquals: {
          "aws:SourceAccount": stack.account,
          "aws:SourceArn": arnOf("schedule-group", scheduleGroupName),
        },
      },
    }),
  });
  role.addToPolicy(new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [queue.queueArn] }));
  return {
    environment: {
      SCHEDULER__GROUP: scheduleGroupName,
      SCHEDULER__TARGET_ARN: queue.queueArn,
      SCHEDULER__ROLE_ARN: role.roleArn,
    },
    allow(lambda) {
      const schedules = arnOf("schedule", `${scheduleGroupName}/*`);
      const statements = [
        { actions: ["scheduler:CreateSchedule", "scheduler:DeleteSchedule"], resources: [schedules] },
        // it names no resource
        { actions: ["scheduler:ListSchedules"], resources: ["*"] },
        {
          actions: ["iam:PassRole"],
          resources: [role.roleArn],
          conditions: { StringEquals: { "iam:PassedToService": SCHEDULER } },
        },
      ];
      for (const statement of statements) lambda.addToRolePolicy(new PolicyStatement(statement));
      acknowledge(
        // with its role
        lambda.node.scope ?? lambda,
        ["IAM5[Resource::*]", `IAM5[Resource::${nagName(stack, schedules)}]`],
        "Schedules of one group, by ids of sources that are made at run time",
      );
    },
  };
}
