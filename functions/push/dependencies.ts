/** Builds the dependencies of the delivery to WebSocket connections; no database is among them. */
import { createConnections } from "../../shared/notify/connections.ts";
import { createSockets } from "../../shared/notify/management-api.ts";
import type { PushDependencies } from "../../shared/notify/push-event.ts";
import { createSubscriptions } from "../../shared/notify/subscriptions.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueContainer, type QueueContainer } from "../adapters/queue/container.ts";

/** Built once per container. */
export const dependencies = once((): QueueContainer & PushDependencies => {
  const container = createQueueContainer("push");
  const { stateTable } = container.config;
  const clock = systemClock;
  const dynamo = dynamoClient();
  const subscriptions = createSubscriptions({ dynamo, clock }, stateTable);
  const connections = createConnections({ dynamo, clock, subscriptions }, stateTable);
  return { ...container, clock, subscriptions, connections, sockets: createSockets() };
});
