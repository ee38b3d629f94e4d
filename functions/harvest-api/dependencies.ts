/** What the harvester's API needs, built once per container. */
import { join } from "node:path";
import { createUrlInspector, type UrlInspector } from "../../shared/access/url-inspection.ts";
import { createJobFlags } from "../../shared/crawl/job-flags.ts";
import type { JobDependencies } from "../../shared/crawl/jobs.ts";
import { loadHarvestConfig } from "../../shared/harvest/config.ts";
import type { HarvestDependencies } from "../../shared/harvest/run.ts";
import { openVectorSide } from "../../shared/knowledge/vector-side.ts";
import { sqsClient } from "../../shared/platform/aws.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { createErrandOffice } from "../../shared/platform/errands.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueSender } from "../../shared/platform/queues.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api-container.ts";
import { ownSearch } from "./own-search.ts";

export interface HarvestApi
  extends ApiContainer,
    Omit<HarvestDependencies, "log">,
    Pick<JobDependencies, "queues" | "flags"> {
  inspector: UrlInspector;
}

/** What the deployment brings along, where no other file is named. */
const DEFAULT_CONFIG = join(import.meta.dirname, "config", "harvest.yaml");

export const harvestApi = once((): HarvestApi => {
  const container = createApiContainer("harvest-api");
  const { config, dynamo, sql } = container;
  const queues = createQueueSender(sqsClient(), config.queueUrlPrefix);
  const file = config.harvestConfigFile === "" ? DEFAULT_CONFIG : config.harvestConfigFile;
  return {
    ...container,
    queues,
    flags: createJobFlags(dynamo, config.stateTable),
    inspector: createUrlInspector(config.allowHosts),
    clock: systemClock,
    errands: createErrandOffice({ queues, dynamo, clock: systemClock }, config.stateTable),
    harvestConfig: () => loadHarvestConfig(file),
    searchOwn: ownSearch({ sql, vectorSide: openVectorSide(config) }),
  };
});
