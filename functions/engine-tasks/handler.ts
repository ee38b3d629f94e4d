/** Starts and stops the tasks in which engines of archive jobs run: without a database, and with a way to ECS. */
import { createEcsTasks } from "../../shared/archive/engines/ecs-tasks.ts";
import { EVENTS_QUEUE, obey, taskOrderSchema } from "../../shared/archive/engines/engine-tasks.ts";
import { createEcs } from "../../shared/platform/aws/ecs.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

const dependencies = once(() => {
  const container = createQueueContainer("engine-tasks");
  const { zimitCluster, zimitTask, zimitSubnets, zimitSecurityGroup } = container.config;
  const place = {
    cluster: zimitCluster,
    taskDefinition: zimitTask,
    subnets: zimitSubnets,
    securityGroup: zimitSecurityGroup,
  };
  return { ...container, tasks: createEcsTasks(createEcs(), place) };
});

export const handler = createQueueHandler(dependencies, {
  schema: taskOrderSchema,
  handle: async (order, { log }, { tasks, queues }) => {
    const outcome = await obey(tasks, order);
    if (outcome === undefined) return;
    log.info("a task was ordered", { ...outcome });
    await queues.send(EVENTS_QUEUE, outcome);
  },
});
