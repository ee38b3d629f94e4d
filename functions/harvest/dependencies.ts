/** What the harvester's remote calls need, built once per container. */
import { createUrlGuard } from "../../shared/access/url-guard.ts";
import type { RequestTools } from "../../shared/harvest/answer-request.ts";
import { createProviderKeys } from "../../shared/harvest/provider-keys.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

export const dependencies = once(() => {
  const container = createQueueContainer("harvest");
  const { config, log } = container;
  const tools: RequestTools = {
    client: createUrlGuard({ allowHosts: config.allowHosts }).dispatcher({ connectTimeoutMs: config.connectTimeoutMs }),
    clock: systemClock,
    random: Math.random,
    log,
    key: createProviderKeys({ env: process.env, secretArn: config.harvestSecretArn, clock: systemClock }),
  };
  return { ...container, dynamo: dynamoClient(), clock: systemClock, tools };
});
