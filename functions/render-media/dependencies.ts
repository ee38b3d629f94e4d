/**
 * Builds the dependencies of the media API's browser, once per container. No database: it runs the scripts of
 * strangers.
 */
import type { MediaDependencies } from "../../shared/crawl/rendering/media.ts";
import { dynamoClient, s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { once } from "../../shared/platform/once.ts";
import { createChromium } from "../../shared/render/chromium/browser.ts";
import { singlePageTools } from "../adapters/api/web-access.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

export const dependencies = once(() => {
  const container = createQueueContainer("render-media");
  const { config, log } = container;
  const { userAgent, chromiumPath: executable } = config;
  const dynamo = dynamoClient();
  // replay on this machine is no public address: entry pages of editions are shown from there
  const allowHosts = [...config.allowHosts, ...hostOf(config.archiveReplayUrl)];
  const tools = singlePageTools({ ...config, allowHosts }, dynamo, log);
  return {
    ...container,
    dynamo,
    ...tools,
    chromium: createChromium({ guard: tools.guard, userAgent, executable, log }),
    objects: createObjectStore(s3Client(), config.bucket),
  } satisfies MediaDependencies & Record<string, unknown>;
});

const hostOf = (url: string): string[] => (url === "" ? [] : [new URL(url).host]);
