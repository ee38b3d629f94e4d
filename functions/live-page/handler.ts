/** Looks at pages as they are now, for whoever compares them with their captures. */
import { createUrlGuard } from "../../shared/access/url-guard.ts";
import { lookAtPage } from "../../shared/crawl/fetch/live-page.ts";
import { createBodyBudget } from "../../shared/crawl/http/exchange.ts";
import { createEgress } from "../../shared/crawl/proxies/egress.ts";
import { createProxyStates } from "../../shared/crawl/proxies/store.ts";
import { createRobotsCache } from "../../shared/crawl/robots/cache.ts";
import { livePageRequestSchema } from "../../shared/crawl/tasks/live-page.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { answerRemoteCall, remoteCallSchema } from "../../shared/platform/aws/remote-call.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/once.ts";
import { configuredHostStates, connectionLimits } from "../adapters/api/web-access.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

const dependencies = once(() => {
  const container = createQueueContainer("live-page");
  const { config, log } = container;
  const { userAgent, defaultRps, robotsUnreachable } = config;
  const guard = createUrlGuard({ allowHosts: config.allowHosts });
  const dynamo = dynamoClient();
  const limits = connectionLimits(config);
  return {
    ...container,
    dynamo,
    guard,
    egress: createEgress({
      direct: guard.dispatcher(limits),
      through: (server) => guard.proxyDispatcher(server, limits),
      proxies: createProxyStates(dynamo, config.stateTable),
      clock: systemClock,
    }),
    budget: createBodyBudget(1),
    hosts: configuredHostStates(config, dynamo, log),
    robots: createRobotsCache(dynamo, config.stateTable),
    clock: systemClock,
    settings: { userAgent, defaultRps, robotsUnreachable, concurrency: 1 },
  };
});

export const handler = createQueueHandler(dependencies, {
  schema: remoteCallSchema,
  handle: async (call, _delivery, { config, ...tools }) => {
    const request = livePageRequestSchema.parse(call.request);
    const work = (_request: unknown, remainingMs: number) => lookAtPage(tools, request, remainingMs);
    // a site is asked once, however often the message comes
    await answerRemoteCall(tools, config.stateTable, call, work, { once: true });
  },
});
