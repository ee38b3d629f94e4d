/** Opens pages in a browser for the media API. */

import { answerMediaRequest } from "../../shared/crawl/rendering/media.ts";
import { mediaRequestSchema } from "../../shared/crawl/tasks/media-request.ts";
import { answerRemoteCall, remoteCallSchema } from "../../shared/platform/aws/remote-call.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: remoteCallSchema,
  handle: async (call, _delivery, { config, ...tools }) => {
    const request = mediaRequestSchema.parse(call.request);
    const work = (_request: unknown, remainingMs: number, isGone: () => Promise<boolean>) =>
      answerMediaRequest(tools, request, remainingMs, isGone);
    // a site may see what scripts do
    await answerRemoteCall(tools, config.stateTable, call, work, { once: request.kind === "execute-js" });
  },
});
