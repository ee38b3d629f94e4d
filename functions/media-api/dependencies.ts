/** What the media API needs, built once per container. */
import { createUrlInspector, type UrlInspector } from "../../shared/access/url-inspection.ts";
import { s3Client, sqsClient } from "../../shared/platform/aws/clients.ts";
import { createLinkMaker, type LinkMaker } from "../../shared/platform/aws/presigned.ts";
import { createQueueSender } from "../../shared/platform/aws/queues.ts";
import { createRemoteCaller, type RemoteCaller } from "../../shared/platform/aws/remote-call.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";
import { LINK_LIFETIME_S } from "../adapters/crawling/artefact.ts";

export interface MediaApi extends ApiContainer {
  inspector: UrlInspector;
  remote: RemoteCaller;
  links: LinkMaker;
}

export const mediaApi = once((): MediaApi => {
  const container = createApiContainer("media-api");
  const { config, dynamo } = container;
  const queues = createQueueSender(sqsClient(), config.queueUrlPrefix);
  return {
    ...container,
    inspector: createUrlInspector(config.allowHosts),
    remote: createRemoteCaller({ queues, dynamo, clock: systemClock }, config.stateTable),
    links: createLinkMaker(s3Client(), config.bucket, LINK_LIFETIME_S),
  };
});
