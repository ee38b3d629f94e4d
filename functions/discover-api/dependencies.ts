/** What the discovery API needs, built once per container. */
import { createUrlInspector, type UrlInspector } from "../../shared/access/url-inspection.ts";
import type { DiscoveryDependencies } from "../../shared/crawl/discovery/jobs.ts";
import { createJobFlags } from "../../shared/crawl/job-flags.ts";
import { s3Client, sqsClient } from "../../shared/platform/aws.ts";
import { createObjectStore, type ObjectStore } from "../../shared/platform/objects.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueSender } from "../../shared/platform/queues.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api-container.ts";

export interface DiscoverApi extends ApiContainer, Pick<DiscoveryDependencies, "queues" | "flags"> {
  inspector: UrlInspector;
  objects: ObjectStore;
}

export const discoverApi = once((): DiscoverApi => {
  const container = createApiContainer("discover-api");
  const { config, dynamo } = container;
  return {
    ...container,
    queues: createQueueSender(sqsClient(), config.queueUrlPrefix),
    flags: createJobFlags(dynamo, config.stateTable),
    inspector: createUrlInspector(config.allowHosts),
    objects: createObjectStore(s3Client(), config.bucket),
  };
});
