/** What the domains API needs, built once per container. */
import type { HostStates } from "../../shared/crawl/politeness/host-state.ts";
import { createRobotsCache, type RobotsCache } from "../../shared/crawl/robots/cache.ts";
import { createJobFlags, type JobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";
import { configuredHostStates } from "../adapters/api/web-access.ts";

export interface DomainsApi extends ApiContainer {
  hosts: HostStates;
  flags: JobFlags;
  robots: RobotsCache;
}

export const domainsApi = once((): DomainsApi => {
  const container = createApiContainer("domains-api");
  const { config, dynamo, log } = container;
  return {
    ...container,
    hosts: configuredHostStates(config, dynamo, log),
    flags: createJobFlags(dynamo, config.stateTable),
    robots: createRobotsCache(dynamo, config.stateTable),
  };
});
