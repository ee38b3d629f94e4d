/** What the exports API needs, built once per container. */
import { createJobFlags, type JobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { s3Client, sqsClient } from "../../shared/platform/aws/clients.ts";
import { createListedObjects, type ListedObjects } from "../../shared/platform/aws/listed-objects.ts";
import { createLinkMaker, type LinkMaker } from "../../shared/platform/aws/presigned.ts";
import { createQueueSender, type QueueSender } from "../../shared/platform/aws/queues.ts";
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";

export interface ExportsApi extends ApiContainer {
  queues: QueueSender;
  flags: Pick<JobFlags, "markActive">;
  links: Pick<LinkMaker, "linkTo">;
  objects: Pick<ListedObjects, "remove">;
}

/** Seconds for which a download may begin. */
const DOWNLOAD_LIFETIME_S = 3600;

export const exportsApi = once((): ExportsApi => {
  const container = createApiContainer("exports-api");
  const { config, dynamo } = container;
  return {
    ...container,
    queues: createQueueSender(sqsClient(), config.queueUrlPrefix),
    flags: createJobFlags(dynamo, config.stateTable),
    objects: createListedObjects(s3Client(), config.bucket),
    links: createLinkMaker(s3Client(), config.bucket, DOWNLOAD_LIFETIME_S),
  };
});
