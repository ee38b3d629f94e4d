/** Builds the dependencies of fetch, once per container. No database: it handles hostile input. */
import type { S3Client } from "@aws-sdk/client-s3";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { FetchDependencies } from "../../shared/crawl/fetch/dependencies.ts";
import { createHeldCaptures } from "../../shared/crawl/fetch/held-captures.ts";
import { createTaskLeases } from "../../shared/crawl/fetch/task-lease.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { createSessionCookies } from "../../shared/crawl/tasks/session-cookies.ts";
import { dynamoClient, s3Client, sqsClient } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { createQueueSender } from "../../shared/platform/aws/queues.ts";
import { type Config, loadConfig } from "../../shared/platform/config.ts";
import { createLogger, type Logger } from "../../shared/platform/observability/log.ts";
import { once } from "../../shared/platform/once.ts";
import { webTools } from "../adapters/api/web-access.ts";

/** Bodies above 1 MB that are read at a time: 50 MB each at the most, in a function of 1 GB. */
const LARGE_BODIES = 2;
/** Bytes of WARC and code units of text that all its tasks hold back together: one alone may have 20 million. */
const MOST_HELD = 32 * 1024 * 1024;

interface AwsClients {
  sqs: SQSClient;
  s3: S3Client;
  dynamo: DynamoDBDocumentClient;
}

export function fetchDependencies(
  config: Config,
  { sqs, s3, dynamo }: AwsClients,
  log: Logger = createLogger({ function: "fetch" }, config.logLevel),
) {
  return {
    ...webTools(config, dynamo, log, LARGE_BODIES),
    held: createHeldCaptures(MOST_HELD),
    sqs,
    queueUrlPrefix: config.queueUrlPrefix,
    log,
    leases: createTaskLeases(dynamo, config.stateTable),
    flags: createJobFlags(dynamo, config.stateTable),
    sessions: createSessionCookies(dynamo, config.stateTable),
    objects: createObjectStore(s3, config.bucket),
    queues: createQueueSender(sqs, config.queueUrlPrefix),
    settings: {
      userAgent: config.userAgent,
      concurrency: config.fetchConcurrencyPerTask,
      defaultRps: config.defaultRps,
      robotsUnreachable: config.robotsUnreachable,
    },
  } satisfies FetchDependencies & Record<string, unknown>;
}

export type FetchContainer = ReturnType<typeof fetchDependencies>;

export const dependencies = once(() =>
  fetchDependencies(loadConfig(), { sqs: sqsClient(), s3: s3Client(), dynamo: dynamoClient() }),
);
