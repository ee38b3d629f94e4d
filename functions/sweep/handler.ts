/** Sends again, each minute, what a lapsed lease or an old pending row still asks for. */
import { z } from "zod";
import { repairDomains } from "../../shared/crawl/administration/domain-settings.ts";
import { createHostStates } from "../../shared/crawl/politeness/host-state.ts";
import { sweep } from "../../shared/crawl/recovery/sweep.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { embedderDescriptor } from "../../shared/knowledge/embedders/registry.ts";
import { createSubscriptions } from "../../shared/notify/subscriptions.ts";
import { wakeStalledSubscriptions } from "../../shared/notify/update-loop.ts";
import { dynamoClient, s3Client, sqsClient } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { createQueueCounter, createQueueSender } from "../../shared/platform/aws/queues.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { createLogger } from "../../shared/platform/observability/log.ts";
import { once } from "../../shared/platform/once.ts";
import { createInvokedHandler } from "../adapters/invoked/handler.ts";

const dependencies = once(() => {
  const config = loadConfig();
  const dynamo = dynamoClient();
  return {
    sql: configuredDatabase(config),
    queues: createQueueSender(sqsClient(), config.queueUrlPrefix),
    objects: createObjectStore(s3Client(), config.bucket),
    flags: createJobFlags(dynamo, config.stateTable),
    hosts: createHostStates(dynamo, config.stateTable),
    subscriptions: createSubscriptions({ dynamo, clock: systemClock }, config.stateTable),
    clock: systemClock,
    messagesIn: createQueueCounter(sqsClient(), config.queueUrlPrefix),
    embeddingModel: embedderDescriptor(config),
    log: createLogger({ function: "sweep" }, config.logLevel),
  };
});

export const handler = createInvokedHandler({
  schema: z.unknown(),
  handle: async (_event, { remainingMs }) => {
    await wakeStalledSubscriptions(dependencies());
    const swept = await sweep(dependencies(), Date.now(), remainingMs);
    if (swept.awake) await repairDomains(dependencies());
    // whoever watches the function's errors is to see it
    if (swept.failedSteps.length > 0)
      throw new Error(`The sweep could not do all its steps: ${swept.failedSteps.join(", ")}`);
    return swept;
  },
});
