/** What the harvester's API needs, built once per container. */
import { join } from "node:path";
import { loadHarvestConfig } from "../../shared/harvest/config.ts";
import type { HarvestDependencies } from "../../shared/harvest/run.ts";
import { openVectorSide } from "../../shared/knowledge/search/vector-side.ts";
import { createRemoteCaller } from "../../shared/platform/aws/remote-call.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/once.ts";
import { createJobContainer, type JobContainer } from "../adapters/api/container.ts";
import { ownSearch } from "./own-search.ts";

export interface HarvestApi extends JobContainer, Omit<HarvestDependencies, "log"> {}

/** What the deployment brings along, where no other file is named. */
const DEFAULT_CONFIG = join(import.meta.dirname, "config", "harvest.yaml");

export const harvestApi = once((): HarvestApi => {
  const container = createJobContainer("harvest-api");
  const { config, dynamo, queues, sql } = container;
  const file = config.harvestConfigFile === "" ? DEFAULT_CONFIG : config.harvestConfigFile;
  return {
    ...container,
    remote: createRemoteCaller({ queues, dynamo, clock: systemClock }, config.stateTable),
    clock: systemClock,
    harvestConfig: () => loadHarvestConfig(file),
    searchOwn: ownSearch({ sql, vectorSide: openVectorSide(config) }),
  };
});
