/** What the archive API needs, built once per container. */
import { createJobFlags, type JobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { s3Client, sqsClient } from "../../shared/platform/aws/clients.ts";
import { createLinkMaker, type LinkMaker } from "../../shared/platform/aws/presigned.ts";
import { createQueueSender, type QueueSender } from "../../shared/platform/aws/queues.ts";
import { createUploads, type Uploads } from "../../shared/platform/aws/uploads.ts";
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";

export interface ArchiveApi extends ApiContainer {
  uploads: Uploads;
  queues: QueueSender;
  flags: JobFlags;
  links: LinkMaker;
}

/** Seconds for which an upload may begin. */
const UPLOAD_LIFETIME_S = 3600;

export const archiveApi = once((): ArchiveApi => {
  const container = createApiContainer("archive-api");
  const { config, dynamo } = container;
  const s3 = s3Client();
  return {
    ...container,
    uploads: createUploads(s3, config.bucket),
    queues: createQueueSender(sqsClient(), config.queueUrlPrefix),
    flags: createJobFlags(dynamo, config.stateTable),
    links: createLinkMaker(s3, config.bucket, UPLOAD_LIFETIME_S),
  };
});
