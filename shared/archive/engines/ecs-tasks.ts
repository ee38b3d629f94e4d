/** Runs of engines as tasks of ECS on Fargate. */
import type { Ecs } from "../../platform/aws/ecs.ts";
import { type EngineTasks, startedBy } from "./engine-tasks.ts";

export interface TaskPlace {
  cluster: string;
  taskDefinition: string;
  subnets: readonly string[];
  securityGroup: string;
}

/** ECS takes no longer ones. */
const LONGEST_REASON = 200;

export function createEcsTasks(ecs: Ecs, { cluster, taskDefinition, subnets, securityGroup }: TaskPlace): EngineTasks {
  return {
    async start(runId, prefix) {
      const answer = await ecs.call("RunTask", {
        cluster,
        taskDefinition,
        // the same message twice starts one task
        clientToken: startedBy(runId),
        startedBy: startedBy(runId),
        count: 1,
        capacityProviderStrategy: [
          { capacityProvider: "FARGATE_SPOT", weight: 4 },
          { capacityProvider: "FARGATE", weight: 1 },
        ],
        networkConfiguration: {
          awsvpcConfiguration: { subnets, securityGroups: [securityGroup], assignPublicIp: "ENABLED" },
        },
        overrides: {
          containerOverrides: [{ name: "uploader", environment: [{ name: "RUN_PREFIX", value: prefix }] }],
        },
      });
      const [task] = (answer["tasks"] ?? []) as { taskArn?: string }[];
      if (task?.taskArn !== undefined) return { taskId: task.taskArn };
      const [failure] = (answer["failures"] ?? []) as { reason?: string; detail?: string }[];
      return { failure: [failure?.reason ?? "ECS started no task", failure?.detail].filter(Boolean).join(": ") };
    },
    async stop(runId, reason) {
      const { taskArns = [] } = (await ecs.call("ListTasks", { cluster, startedBy: startedBy(runId) })) as {
        taskArns?: string[];
      };
      for (const task of taskArns)
        await ecs.call("StopTask", { cluster, task, reason: reason.slice(0, LONGEST_REASON) });
    },
  };
}
