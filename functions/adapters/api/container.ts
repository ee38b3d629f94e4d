/** What every API function builds once per container. */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createGate } from "../../../shared/access/authorize.ts";
import { createRateLimiter } from "../../../shared/access/rate-limit.ts";
import { dynamoClient } from "../../../shared/platform/aws/clients.ts";
import { type Config, loadConfig } from "../../../shared/platform/config.ts";
import { configuredDatabase, type Sql } from "../../../shared/platform/database/database.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import type { ApiDependencies } from "./route.ts";

export interface ApiContainer extends ApiDependencies {
  config: Config;
  sql: Sql;
  dynamo: DynamoDBDocumentClient;
}

/** @param name the function's, for its log lines */
export function createApiContainer(name: string): ApiContainer {
  const config = loadConfig();
  const sql = configuredDatabase(config);
  const dynamo = dynamoClient();
  return {
    config,
    sql,
    dynamo,
    log: createLogger({ function: name }, config.logLevel),
    gate: createGate({ sql, limiter: createRateLimiter(dynamo, config.stateTable) }),
  };
}
