/** Builds the dependencies of render, once per container. No database: it runs the scripts of strangers. */
import { createUrlGuard } from "../../shared/access/url-guard.ts";
import { createEgress } from "../../shared/crawl/proxies/egress.ts";
import { createProxyStates } from "../../shared/crawl/proxies/store.ts";
import type { RenderDependencies } from "../../shared/crawl/rendering/run-render.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { createSessionCookies } from "../../shared/crawl/tasks/session-cookies.ts";
import { dynamoClient, s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/once.ts";
import { createChromium } from "../../shared/render/chromium/browser.ts";
import { createChromiumRenderer } from "../../shared/render/chromium/renderer.ts";
import { createCrawl4AiRenderer } from "../../shared/render/crawl4ai.ts";
import { configuredHostStates } from "../adapters/api/web-access.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

export const dependencies = once(() => {
  const container = createQueueContainer("render");
  const { config, log } = container;
  const { userAgent, defaultRps, chromiumPath: executable } = config;
  const guard = createUrlGuard({ allowHosts: config.allowHosts });
  return {
    ...container,
    renderer:
      config.crawl4aiUrl === ""
        ? createChromiumRenderer(createChromium({ guard, userAgent, executable, log }))
        : createCrawl4AiRenderer({
            url: config.crawl4aiUrl,
            token: config.crawl4aiToken,
            timeoutMs: config.crawl4aiTimeoutS * 1000,
            userAgent,
          }),
    egress: createEgress({
      direct: guard.dispatcher(),
      through: (server) => guard.proxyDispatcher(server),
      proxies: createProxyStates(dynamoClient(), config.stateTable),
      clock: systemClock,
    }),
    objects: createObjectStore(s3Client(), config.bucket),
    flags: createJobFlags(dynamoClient(), config.stateTable),
    sessions: createSessionCookies(dynamoClient(), config.stateTable),
    hosts: configuredHostStates(config, dynamoClient(), log),
    clock: systemClock,
    settings: { userAgent, defaultRps },
  } satisfies RenderDependencies & Record<string, unknown>;
});
