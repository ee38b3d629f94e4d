/** Asks language models and search providers on behalf of the harvester, with keys that it alone holds. */
import { doErrand } from "../../shared/harvest/answer-request.ts";
import { errandSchema, runErrand } from "../../shared/platform/aws/remote-call.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, () => ({
  schema: errandSchema,
  handle: async (errand) => {
    const { dynamo, clock, config, tools } = dependencies();
    const work = (request: unknown, remainingMs: number) => doErrand(tools, request, remainingMs);
    await runErrand({ dynamo, clock }, config.stateTable, errand, work, { once: true });
  },
}));
