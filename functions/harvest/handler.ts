/** Asks language models and search providers on behalf of the harvester, with keys that it alone holds. */
import { answerHarvestRequest } from "../../shared/harvest/answer-request.ts";
import { answerRemoteCall, remoteCallSchema } from "../../shared/platform/aws/remote-call.ts";
import { createQueueHandler } from "../adapters/queue/consumer.ts";
import { dependencies } from "./dependencies.ts";

export const handler = createQueueHandler(dependencies, {
  schema: remoteCallSchema,
  handle: async (request, _delivery, { dynamo, clock, config, tools }) => {
    const work = (request: unknown, remainingMs: number) => answerHarvestRequest(tools, request, remainingMs);
    await answerRemoteCall({ dynamo, clock }, config.stateTable, request, work, { once: true });
  },
});
