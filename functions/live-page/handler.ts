/** Looks at pages as they are now, for whoever compares them with their captures. */
import { lookAtPage } from "../../shared/crawl/fetch/live-page.ts";
import { livePageRequestSchema } from "../../shared/crawl/tasks/live-page.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { answerRemoteCall, remoteCallSchema } from "../../shared/platform/aws/remote-call.ts";
import { once } from "../../shared/platform/once.ts";
import { singlePageTools } from "../adapters/api/web-access.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

const dependencies = once(() => {
  const container = createQueueContainer("live-page");
  const { config, log } = container;
  const dynamo = dynamoClient();
  return { ...container, dynamo, ...singlePageTools(config, dynamo, log) };
});

export const handler = createQueueHandler(dependencies, {
  schema: remoteCallSchema,
  handle: async (call, _delivery, { config, ...tools }) => {
    const request = livePageRequestSchema.parse(call.request);
    const work = (_request: unknown, remainingMs: number) => lookAtPage(tools, request, remainingMs);
    // a site is asked once, however often the message comes
    await answerRemoteCall(tools, config.stateTable, call, work, { once: true });
  },
});
