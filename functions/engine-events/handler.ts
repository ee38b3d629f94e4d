/** Notes what is told of the tasks of archive jobs: what became of an order, and how ECS says they are. */
import { noteTaskEvent } from "../../shared/archive/editions/engine-runs.ts";
import { taskEventSchema } from "../../shared/archive/engines/engine-tasks.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

const dependencies = once(() => {
  const container = createQueueContainer("engine-events");
  return { ...container, sql: configuredDatabase(container.config) };
});

export const handler = createQueueHandler(dependencies, {
  schema: taskEventSchema,
  handle: async (event, _delivery, { sql }) => await noteTaskEvent(sql, event),
});
