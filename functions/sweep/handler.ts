/** Each minute: sends again what a lapsed lease or an old pending row still asks for. */
import type { Context } from "aws-lambda";
import { createJobFlags } from "../../shared/crawl/job-flags.ts";
import { type Swept, sweep } from "../../shared/crawl/sweep.ts";
import { dynamoClient, s3Client, sqsClient } from "../../shared/platform/aws.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { configuredDatabase } from "../../shared/platform/database.ts";
import { createLogger } from "../../shared/platform/log.ts";
import { createObjectStore } from "../../shared/platform/objects.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueSender } from "../../shared/platform/queues.ts";

const dependencies = once(() => {
  const config = loadConfig();
  return {
    sql: configuredDatabase(config),
    queues: createQueueSender(sqsClient(), config.queueUrlPrefix),
    objects: createObjectStore(s3Client(), config.bucket),
    flags: createJobFlags(dynamoClient(), config.stateTable),
    log: createLogger({ function: "sweep" }, config.logLevel),
  };
});

export async function handler(_event: unknown, context: Pick<Context, "getRemainingTimeInMillis">): Promise<Swept> {
  return await sweep(dependencies(), Date.now(), () => context.getRemainingTimeInMillis());
}
