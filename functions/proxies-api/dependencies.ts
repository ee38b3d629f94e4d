/** What the proxies API needs, built once per container. */
import { createUrlInspector, type UrlInspector } from "../../shared/access/url-inspection.ts";
import { createProxyStates, type ProxyStates } from "../../shared/crawl/proxies/store.ts";
import { sqsClient } from "../../shared/platform/aws/clients.ts";
import { createQueueSender } from "../../shared/platform/aws/queues.ts";
import { createRemoteCaller, type RemoteCaller } from "../../shared/platform/aws/remote-call.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";

export interface ProxiesApi extends ApiContainer {
  proxies: ProxyStates;
  inspector: UrlInspector;
  remote: RemoteCaller;
}

export const proxiesApi = once((): ProxiesApi => {
  const container = createApiContainer("proxies-api");
  const { config, dynamo } = container;
  const queues = createQueueSender(sqsClient(), config.queueUrlPrefix);
  return {
    ...container,
    proxies: createProxyStates(dynamo, config.stateTable),
    inspector: createUrlInspector(config.allowHosts),
    remote: createRemoteCaller({ queues, dynamo, clock: systemClock }, config.stateTable),
  };
});
