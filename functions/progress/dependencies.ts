/** What the loop that reports the progress of jobs works with. */
import { createSubscriptions } from "../../shared/notify/subscriptions.ts";
import type { UpdateDependencies } from "../../shared/notify/update-loop.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueContainer, type QueueContainer } from "../adapters/queue/container.ts";

/** Built once per container. */
export const dependencies = once((): QueueContainer & UpdateDependencies => {
  const container = createQueueContainer("progress");
  const { config } = container;
  const clock = systemClock;
  const subscriptions = createSubscriptions({ dynamo: dynamoClient(), clock }, config.stateTable);
  return { ...container, clock, sql: configuredDatabase(config), subscriptions };
});
