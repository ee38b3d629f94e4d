/**
 * Builds the dependencies of the media API's browser, once per container. No database: it runs the scripts of
 * strangers.
 */
import { createUrlGuard } from "../../shared/access/url-guard.ts";
import { createBodyBudget } from "../../shared/crawl/http/exchange.ts";
import { createEgress } from "../../shared/crawl/proxies/egress.ts";
import { createProxyStates } from "../../shared/crawl/proxies/store.ts";
import type { MediaDependencies } from "../../shared/crawl/rendering/media.ts";
import { createRobotsCache } from "../../shared/crawl/robots/cache.ts";
import { dynamoClient, s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/once.ts";
import { createChromium } from "../../shared/render/chromium/browser.ts";
import { configuredHostStates, connectionLimits } from "../adapters/api/web-access.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

export const dependencies = once(() => {
  const container = createQueueContainer("render-media");
  const { config, log } = container;
  const { userAgent, defaultRps, robotsUnreachable, chromiumPath: executable } = config;
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
    chromium: createChromium({ guard, userAgent, executable, log }),
    objects: createObjectStore(s3Client(), config.bucket),
    clock: systemClock,
    settings: { userAgent, defaultRps, robotsUnreachable, concurrency: 1 },
  } satisfies MediaDependencies & Record<string, unknown>;
});
