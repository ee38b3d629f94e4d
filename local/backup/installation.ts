/** The stores of an installation: of a state folder on this machine, or those that the environment names. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { type Bucket, createBucket } from "../../shared/backup/bucket.ts";
import { embeddedCredentials } from "../../shared/platform/aws/clients.ts";
import { createQueueSender, type QueueSender } from "../../shared/platform/aws/queues.ts";
import { CONFIG_FIELDS, type Config, loadConfig } from "../../shared/platform/config.ts";
import { connectDatabase, databaseOf, type Sql } from "../../shared/platform/database/database.ts";
import { openServices } from "../open-services.ts";
import { UsageError } from "./usage-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Installation {
  /** For messages. */
  name: string;
  /** Of the runtime that runs in the folder; undefined where none does, or it is a deployment. */
  runningAt: string | undefined;
  config: Config;
  sql: Sql;
  bucket: Bucket;
  dynamo: DynamoDBDocumentClient;
  queues: QueueSender;
  /** Settings that may be told, and the names of those that may not. */
  settings: { settings: Record<string, string>; settings_left_out: string[] };
  stop(): Promise<void>;
}

/** For the statements of one command; the transaction that reads or writes all rows takes one. */
const CONNECTIONS = 2;
/** What a deployment must name. */
const NEEDED = ["postgresUrl", "bucket", "stateTable", "queueUrlPrefix"] as const;

/**
 * @param where a deployment is what the environment names, as the functions of a stack have it
 * @throws UsageError
 */
export async function openInstallation(where: {
  deployment: boolean;
  /** State folder. */
  home: string;
  /** Whether one that is not there is made. */
  makes: boolean;
}): Promise<Installation> {
  if (where.deployment) return connect(process.env, "this deployment", undefined, async () => {});
  if (!where.makes && !existsSync(join(where.home, "runtime.json"))) {
    throw new UsageError(
      `No Strandline has run in ${where.home}`,
      "Set STRANDLINE_HOME to its state folder, or pass --deployment for the stores that the environment names",
    );
  }
  const { env, runningAt, stop } = await openServices(where.home);
  return connect(env, where.home, runningAt, stop);
}

function connect(
  env: Environment,
  name: string,
  runningAt: string | undefined,
  stop: () => Promise<void>,
): Installation {
  const config = loadConfig(env);
  const missing = NEEDED.filter((field) => config[field] === "").map((field) => CONFIG_FIELDS[field].env);
  if (missing.length > 0) {
    throw new UsageError(
      `The environment does not say where the deployment's stores are: ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`,
      "Take them from a function of the stack: docs/guide/backup.md",
    );
  }
  const clients = {
    s3: new S3Client({ ...clientOf(env, "s3"), forcePathStyle: Boolean(env["AWS_ENDPOINT_URL_S3"]) }),
    dynamo: new DynamoDBClient(clientOf(env, "dynamodb")),
    sqs: new SQSClient(clientOf(env, "sqs")),
  };
  const sql = connectDatabase({ ...databaseOf(config), poolSize: CONNECTIONS });
  return {
    ...{ name, runningAt, config, sql },
    bucket: createBucket(clients.s3, config.bucket),
    dynamo: DynamoDBDocumentClient.from(clients.dynamo, { marshallOptions: { removeUndefinedValues: true } }),
    queues: createQueueSender(clients.sqs, config.queueUrlPrefix),
    settings: settingsOf(env),
    async stop() {
      await sql.end({ timeout: 1 });
      for (const client of Object.values(clients)) client.destroy();
      await stop();
    },
  };
}

/** Of the embedded services where the environment names them; else the SDK finds endpoint and credentials itself. */
function clientOf(env: Environment, service: "s3" | "dynamodb" | "sqs") {
  const endpoint = env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] || env["AWS_ENDPOINT_URL"];
  const { AWS_REGION, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN } = env;
  const named = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  return {
    ...(AWS_REGION ? { region: AWS_REGION } : {}),
    ...(named ? { credentials: { ...named, ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }) } } : {}),
    ...embeddedCredentials(service, env),
    ...(endpoint ? { endpoint } : {}),
  };
}

const SECRET = /KEY|TOKEN|SECRET|PASSWORD/;
/** They say where this installation is, and would be wrong of another. */
const PLACE =
  /^(DATABASE__|STORAGE__BUCKET|STATE__TABLE|QUEUES__|API__URL|CONSOLE__|SCHEDULER__|ZIMIT__|METRICS__NAMESPACE)|_PATH$|_FILE$|REPLAY_URL$/;

function settingsOf(env: Environment): Installation["settings"] {
  const told: Installation["settings"] = { settings: {}, settings_left_out: [] };
  for (const { env: name } of Object.values(CONFIG_FIELDS)) {
    const value = env[name];
    if (!value) continue;
    const withCredentials = URL.parse(value)?.password;
    if (SECRET.test(name) || PLACE.test(name) || withCredentials) told.settings_left_out.push(name);
    else told.settings[name] = value;
  }
  return told;
}

/** Of the product. */
export const productVersion = (): string =>
  (JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as { version: string }).version;
