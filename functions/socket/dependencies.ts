/** What the WebSocket API needs, built once per container. */
import { type Connections, createConnections } from "../../shared/notify/connections.ts";
import { createSubscriptions } from "../../shared/notify/subscriptions.ts";
import { sqsClient } from "../../shared/platform/aws/clients.ts";
import { createQueueSender, type QueueSender } from "../../shared/platform/aws/queues.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";

export interface SocketApi extends ApiContainer {
  connections: Connections;
  queues: Pick<QueueSender, "send">;
}

export const socketApi = once((): SocketApi => {
  const container = createApiContainer("socket");
  const { config, dynamo } = container;
  const subscriptions = createSubscriptions({ dynamo, clock: systemClock }, config.stateTable);
  return {
    ...container,
    connections: createConnections({ dynamo, clock: systemClock, subscriptions }, config.stateTable),
    queues: createQueueSender(sqsClient(), config.queueUrlPrefix),
  };
});
