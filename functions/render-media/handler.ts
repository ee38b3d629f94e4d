/** Opens pages in a browser for the media API. */

import { runMediaErrand } from "../../shared/crawl/rendering/media.ts";
import { mediaErrandSchema } from "../../shared/crawl/tasks/media-request.ts";
import { errandSchema, runErrand } from "../../shared/platform/aws/remote-call.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, () => ({
  schema: errandSchema,
  handle: async (errand) => {
    const { config, ...tools } = dependencies();
    const request = mediaErrandSchema.parse(errand.request);
    const work = (_request: unknown, remainingMs: number) => runMediaErrand(tools, request, remainingMs);
    // a site may see what scripts do
    await runErrand(tools, config.stateTable, errand, work, { once: request.kind === "execute-js" });
  },
}));
