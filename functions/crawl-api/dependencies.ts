/** What the crawl API needs, built once per container. */
import { createUrlInspector, type UrlInspector } from "../../shared/access/url-inspection.ts";
import { createJobFlags } from "../../shared/crawl/job-flags.ts";
import type { JobDependencies } from "../../shared/crawl/jobs.ts";
import { sqsClient } from "../../shared/platform/aws.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueSender } from "../../shared/platform/queues.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api-container.ts";

export interface CrawlApi extends ApiContainer, Pick<JobDependencies, "queues" | "flags"> {
  inspector: UrlInspector;
}

export const crawlApi = once((): CrawlApi => {
  const container = createApiContainer("crawl-api");
  const { config, dynamo } = container;
  return {
    ...container,
    queues: createQueueSender(sqsClient(), config.queueUrlPrefix),
    flags: createJobFlags(dynamo, config.stateTable),
    inspector: createUrlInspector(config.allowHosts),
  };
});
