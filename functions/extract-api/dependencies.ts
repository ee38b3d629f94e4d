/** What the extraction API needs, built once per container. */
import { createUrlInspector, type UrlInspector } from "../../shared/access/url-inspection.ts";
import { createJobFlags } from "../../shared/crawl/job-flags.ts";
import type { JobDependencies } from "../../shared/crawl/jobs.ts";
import type { ResultReader } from "../../shared/crawl/result-pages.ts";
import { s3Client, sqsClient } from "../../shared/platform/aws.ts";
import { type Clock, systemClock } from "../../shared/platform/clock.ts";
import { createObjectStore } from "../../shared/platform/objects.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueSender } from "../../shared/platform/queues.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api-container.ts";

export interface ExtractApi extends ApiContainer, ResultReader, Pick<JobDependencies, "queues" | "flags"> {
  clock: Clock;
  inspector: UrlInspector;
}

export const extractApi = once((): ExtractApi => {
  const container = createApiContainer("extract-api");
  const { config, dynamo } = container;
  return {
    ...container,
    clock: systemClock,
    objects: createObjectStore(s3Client(), config.bucket),
    maxContentBytes: config.spiderMaxContentBytes,
    queues: createQueueSender(sqsClient(), config.queueUrlPrefix),
    flags: createJobFlags(dynamo, config.stateTable),
    inspector: createUrlInspector(config.allowHosts),
  };
});
