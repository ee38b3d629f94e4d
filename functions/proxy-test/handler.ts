/** Tries proxy servers on behalf of the proxies API, which has no internet. */
import { z } from "zod";
import { createUrlGuard } from "../../shared/access/url-guard.ts";
import { tryProxy } from "../../shared/crawl/proxies/probe.ts";
import { createProxyStates } from "../../shared/crawl/proxies/store.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { answerRemoteCall, remoteCallSchema } from "../../shared/platform/aws/remote-call.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

/** Names the config, or the one server that is kept like one for the while: no message holds a password. */
const requestSchema = z.strictObject({ proxyId: z.uuid(), url: z.url(), timeoutMs: z.int().positive() });

const dependencies = once(() => {
  const container = createQueueContainer("proxy-test");
  const { config } = container;
  const dynamo = dynamoClient();
  return {
    ...container,
    dynamo,
    clock: systemClock,
    guard: createUrlGuard({ allowHosts: config.allowHosts }),
    // what was corrected a second ago is what is tried
    proxies: createProxyStates(dynamo, config.stateTable, Date.now, 0),
  };
});

export const handler = createQueueHandler(dependencies, {
  schema: remoteCallSchema,
  handle: async (request, _delivery, { config, guard, proxies, dynamo, clock }) => {
    await answerRemoteCall({ dynamo, clock }, config.stateTable, request, async (request, remainingMs) => {
      const { proxyId, url, timeoutMs } = requestSchema.parse(request);
      const shared = await proxies.read(proxyId);
      if (shared === undefined) {
        throw new ApiError(404, `There is no proxy config ${proxyId}`, { code: "NOT_FOUND" });
      }
      const probe = {
        url: new URL(url),
        userAgent: config.userAgent,
        timeoutMs: Math.max(1, Math.min(timeoutMs, remainingMs)),
      };
      return await Promise.all(shared.servers.map((server) => tryProxy(guard, server, probe)));
    });
  },
});
