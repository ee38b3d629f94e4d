/** Moves archive jobs on, each minute: begins those that wait, and lets the others follow what works for them. */
import { z } from "zod";
import { runArchiveJobs } from "../../shared/archive/editions/run-jobs.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { dynamoClient, s3Client, sqsClient } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { createQueueSender } from "../../shared/platform/aws/queues.ts";
import { createRemoteAnswers } from "../../shared/platform/aws/remote-call.ts";
import { createUploads } from "../../shared/platform/aws/uploads.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { createLogger } from "../../shared/platform/observability/log.ts";
import { once } from "../../shared/platform/once.ts";
import { createInvokedHandler } from "../adapters/invoked/handler.ts";

const dependencies = once(() => {
  const config = loadConfig();
  const s3 = s3Client();
  const dynamo = dynamoClient();
  const objects = createObjectStore(s3, config.bucket);
  return {
    sql: configuredDatabase(config),
    queues: createQueueSender(sqsClient(), config.queueUrlPrefix),
    flags: createJobFlags(dynamo, config.stateTable),
    engines: config.zimitTask === "" ? undefined : { objects, uploads: createUploads(s3, config.bucket) },
    previews: {
      objects,
      answers: createRemoteAnswers(dynamo, config.stateTable),
      replayUrl: config.archivePublic ? config.archiveReplayUrl : "",
    },
    log: createLogger({ function: "archive-jobs" }, config.logLevel),
  };
});

/** For the job that is under way. */
const RESERVE_MS = 10_000;

export const handler = createInvokedHandler({
  schema: z.unknown(),
  handle: async (_event, { remainingMs }) => {
    const all = dependencies();
    // an idle system leaves the database alone, so that it may pause: the sweep keeps the marker while jobs are open
    if ((await all.flags.activeSince()) === undefined) return { begun: 0, moved: 0, failed: 0 };
    return await runArchiveJobs(all, () => remainingMs() > RESERVE_MS);
  },
});
