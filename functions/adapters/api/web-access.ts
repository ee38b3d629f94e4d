/** What every function that asks web sites does alike: how long it waits for them, and which hosts it leaves alone. */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createUrlGuard } from "../../../shared/access/url-guard.ts";
import { createBodyBudget } from "../../../shared/crawl/http/exchange.ts";
import { createHostStates, type HostStates } from "../../../shared/crawl/politeness/host-state.ts";
import { CIRCUIT } from "../../../shared/crawl/politeness/metrics.ts";
import { createEgress } from "../../../shared/crawl/proxies/egress.ts";
import { createProxyStates } from "../../../shared/crawl/proxies/store.ts";
import { createRobotsCache } from "../../../shared/crawl/robots/cache.ts";
import { systemClock } from "../../../shared/platform/clock.ts";
import type { Config } from "../../../shared/platform/config.ts";
import type { Logger } from "../../../shared/platform/observability/log.ts";

/** Bytes of response headers; more is an error. */
const MAX_HEADER_BYTES = 64 * 1024;

/** Of a dispatcher of the URL guard; times in ms. */
export function connectionLimits({ connectTimeoutMs, headersTimeoutMs, bodyIdleTimeoutMs }: Config) {
  return {
    connectTimeoutMs,
    headersTimeout: headersTimeoutMs,
    bodyTimeout: bodyIdleTimeoutMs,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
}

/** Host states that go by the circuit settings of the deployment. */
export function configuredHostStates(config: Config, dynamo: DynamoDBDocumentClient, log: Logger): HostStates {
  const circuit = { threshold: config.circuitThreshold, timeoutS: config.circuitTimeoutS };
  return createHostStates(dynamo, config.stateTable, Date.now, circuit, (host) =>
    log.measure("a host failed too often in a row: it is left alone", {
      host,
      ...CIRCUIT.fields({}, { openings: 1 }, Date.now()),
    }),
  );
}

/**
 * What asks for pages, by the rules that crawls keep.
 * @param largeBodies bodies above 1 MB that are read at a time
 */
export function webTools(config: Config, dynamo: DynamoDBDocumentClient, log: Logger, largeBodies: number) {
  const guard = createUrlGuard({ allowHosts: config.allowHosts });
  const limits = connectionLimits(config);
  return {
    guard,
    egress: createEgress({
      direct: guard.dispatcher(limits),
      through: (server) => guard.proxyDispatcher(server, limits),
      proxies: createProxyStates(dynamo, config.stateTable),
      clock: systemClock,
    }),
    budget: createBodyBudget(largeBodies),
    hosts: configuredHostStates(config, dynamo, log),
    robots: createRobotsCache(dynamo, config.stateTable),
    clock: systemClock,
  };
}

/** For a function that asks for one page at a time. */
export function singlePageTools(config: Config, dynamo: DynamoDBDocumentClient, log: Logger) {
  const { userAgent, defaultRps, robotsUnreachable } = config;
  return {
    ...webTools(config, dynamo, log, 1),
    settings: { userAgent, defaultRps, robotsUnreachable, concurrency: 1 },
  };
}
