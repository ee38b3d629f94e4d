/** What the scrape API needs, built once per container. */
import { s3Client } from "../../shared/platform/aws/clients.ts";
import { createLinkMaker, type LinkMaker } from "../../shared/platform/aws/presigned.ts";
import { createRemoteCaller, type RemoteCaller } from "../../shared/platform/aws/remote-call.ts";
import { once } from "../../shared/platform/once.ts";
import { createResultContainer, type ResultContainer } from "../adapters/api/container.ts";
import { LINK_LIFETIME_S } from "../adapters/crawling/artefact.ts";

export interface ScrapeApi extends ResultContainer {
  remote: RemoteCaller;
  links: LinkMaker;
}

export const scrapeApi = once((): ScrapeApi => {
  const container = createResultContainer("scrape-api");
  return {
    ...container,
    remote: createRemoteCaller(container, container.config.stateTable),
    links: createLinkMaker(s3Client(), container.config.bucket, LINK_LIFETIME_S),
  };
});
