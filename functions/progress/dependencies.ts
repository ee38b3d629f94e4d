/** Builds the dependencies of the update loop, once per container. */
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { createListening, type Listening } from "../../shared/crawl/tasks/listening.ts";
import { createSubscriptions } from "../../shared/notify/subscriptions.ts";
import type { UpdateDependencies } from "../../shared/notify/update-loop.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueContainer, type QueueContainer } from "../adapters/queue/container.ts";

/** Built once per container. */
export const dependencies = once((): QueueContainer & UpdateDependencies & { listening: Listening } => {
  const container = createQueueContainer("progress");
  const { config } = container;
  const clock = systemClock;
  const dynamo = dynamoClient();
  const subscriptions = createSubscriptions({ dynamo, clock }, config.stateTable);
  const flags = createJobFlags(dynamo, config.stateTable);
  const listening = createListening({ flags, clock, log: container.log });
  return { listening, ...container, clock, sql: configuredDatabase(config), subscriptions };
});
