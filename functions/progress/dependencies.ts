/** What the watch over jobs works with. */

import { createWatches } from "../../shared/notify/subscriptions.ts";
import type { WatchDependencies } from "../../shared/notify/update-loop.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueContainer, type QueueContainer } from "../adapters/queue/container.ts";

/** Built once per container. */
export const dependencies = once((): QueueContainer & WatchDependencies => {
  const container = createQueueContainer("progress");
  const { config } = container;
  const clock = systemClock;
  const watches = createWatches({ dynamo: dynamoClient(), clock }, config.stateTable);
  return { ...container, clock, sql: configuredDatabase(config), watches };
});
