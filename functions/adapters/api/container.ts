/**
 * What API functions build once per container: for any API, for one that takes jobs, and for one that answers with
 * results.
 */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createGate } from "../../../shared/access/authorize.ts";
import { createIdempotencyKeys } from "../../../shared/access/idempotency.ts";
import { createKeyCache, type KeyCache } from "../../../shared/access/key-cache.ts";
import { createRateLimiter } from "../../../shared/access/rate-limit.ts";
import { createUrlInspector, type UrlInspector } from "../../../shared/access/url-inspection.ts";
import type { JobDependencies } from "../../../shared/crawl/jobs/dependencies.ts";
import type { ResultReader } from "../../../shared/crawl/results/pages.ts";
import { createJobFlags } from "../../../shared/crawl/tasks/job-flags.ts";
import { createListening, type Listening } from "../../../shared/crawl/tasks/listening.ts";
import { dynamoClient, s3Client, sqsClient } from "../../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../../shared/platform/aws/objects.ts";
import { createQueueSender } from "../../../shared/platform/aws/queues.ts";
import { type Clock, systemClock } from "../../../shared/platform/clock.ts";
import { type Config, loadConfig } from "../../../shared/platform/config.ts";
import { configuredDatabase, type Sql } from "../../../shared/platform/database/database.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import type { ApiDependencies } from "./route.ts";

export interface ApiContainer extends ApiDependencies {
  config: Config;
  sql: Sql;
  dynamo: DynamoDBDocumentClient;
  /** What the gate knows of keys without the database. */
  cache: KeyCache;
}

/** @param name the function's, for its log lines */
export function createApiContainer(name: string): ApiContainer {
  const config = loadConfig();
  const sql = configuredDatabase(config);
  const dynamo = dynamoClient();
  const cache = createKeyCache(dynamo, config.stateTable);
  return {
    config,
    sql,
    dynamo,
    cache,
    log: createLogger({ function: name }, config.logLevel),
    gate: createGate({ sql, cache, limiter: createRateLimiter(dynamo, config.stateTable) }),
    idempotencyKeys: createIdempotencyKeys(sql),
  };
}

export interface JobContainer extends ApiContainer, Pick<JobDependencies, "queues" | "flags"> {
  /** Checks the URLs of requests. */
  inspector: UrlInspector;
  /** For answers that tell how a job goes. */
  listening: Listening;
}

/** @param name the function's, for its log lines */
export function createJobContainer(name: string): JobContainer {
  const container = createApiContainer(name);
  const { config, dynamo } = container;
  const flags = createJobFlags(dynamo, config.stateTable);
  return {
    ...container,
    queues: createQueueSender(sqsClient(), config.queueUrlPrefix),
    flags,
    listening: createListening({ flags, clock: systemClock, log: container.log }),
    inspector: createUrlInspector(config.allowHosts),
  };
}

export interface ResultContainer extends JobContainer, ResultReader {
  clock: Clock;
}

/** @param name the function's, for its log lines */
export function createResultContainer(name: string): ResultContainer {
  const container = createJobContainer(name);
  const { bucket, spiderMaxContentBytes } = container.config;
  return {
    ...container,
    objects: createObjectStore(s3Client(), bucket),
    maxContentBytes: spiderMaxContentBytes,
    clock: systemClock,
  };
}
