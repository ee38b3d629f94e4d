/** Builds the dependencies of discover, once per container. No database: it handles hostile input. */
import type { S3Client } from "@aws-sdk/client-s3";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createUrlGuard } from "../../shared/access/url-guard.ts";
import type { DiscoverDependencies } from "../../shared/crawl/discovery/discover.ts";
import { createBodyBudget } from "../../shared/crawl/http/exchange.ts";
import { createRobotsCache } from "../../shared/crawl/robots/cache.ts";
import { dynamoClient, s3Client, sqsClient } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { createQueueSender } from "../../shared/platform/aws/queues.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { type Config, loadConfig } from "../../shared/platform/config.ts";
import { createLogger } from "../../shared/platform/observability/log.ts";
import { once } from "../../shared/platform/once.ts";
import { configuredHostStates, connectionLimits } from "../adapters/api/web-access.ts";

interface AwsClients {
  sqs: SQSClient;
  s3: S3Client;
  dynamo: DynamoDBDocumentClient;
}

export function discoverDependencies(config: Config, { sqs, s3, dynamo }: AwsClients) {
  const guard = createUrlGuard({ allowHosts: config.allowHosts });
  const log = createLogger({ function: "discover" }, config.logLevel);
  return {
    sqs,
    queueUrlPrefix: config.queueUrlPrefix,
    log,
    guard,
    client: guard.dispatcher(connectionLimits(config)),
    // one document at a time
    budget: createBodyBudget(1),
    hosts: configuredHostStates(config, dynamo, log),
    robots: createRobotsCache(dynamo, config.stateTable),
    objects: createObjectStore(s3, config.bucket),
    queues: createQueueSender(sqs, config.queueUrlPrefix),
    clock: systemClock,
    commonCrawl: { url: config.commonCrawlUrl },
    settings: {
      userAgent: config.userAgent,
      defaultRps: config.defaultRps,
      robotsUnreachable: config.robotsUnreachable,
    },
  } satisfies DiscoverDependencies & Record<string, unknown>;
}

export const dependencies = once(() =>
  discoverDependencies(loadConfig(), { sqs: sqsClient(), s3: s3Client(), dynamo: dynamoClient() }),
);
