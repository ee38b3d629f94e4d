/**
 * The environment of the handlers: what the user set, and where the embedded services are for what the user did not
 * set.
 */
import { join } from "node:path";
import { CONFIG_FIELDS, type Config, loadConfig } from "../shared/platform/config.ts";
import type { EmbeddedCredentials } from "./front/credentials.ts";

/** Which services the user's own settings replace. */
export interface Replaced {
  postgres: boolean;
  s3: boolean;
  dynamo: boolean;
  scheduler: boolean;
}

export type Environment = Record<string, string | undefined>;

/** @throws Error that lists every problem of the configuration */
export function checkEnvironment(env: Environment): { config: Config; replaced: Replaced } {
  const config = loadConfig(env);
  if (config.queueUrlPrefix !== "" || env["AWS_ENDPOINT_URL_SQS"] || env["AWS_ENDPOINT_URL"]) {
    throw new Error(
      "The local runtime serves its own queues: unset QUEUES__URL_PREFIX, AWS_ENDPOINT_URL_SQS and AWS_ENDPOINT_URL. " +
        "S3, DynamoDB and the scheduler can be replaced, each by its own AWS_ENDPOINT_URL_*.",
    );
  }
  return {
    config,
    replaced: {
      postgres: config.postgresUrl !== "",
      s3: Boolean(env["AWS_ENDPOINT_URL_S3"]),
      dynamo: Boolean(env["AWS_ENDPOINT_URL_DYNAMODB"]),
      scheduler: Boolean(env["AWS_ENDPOINT_URL_SCHEDULER"]),
    },
  };
}

/** Credentials of the machine's owner: handlers get none of them, unless a real service was named. */
const OWN_CREDENTIALS =
  /^AWS_(PROFILE|DEFAULT_PROFILE|SESSION_TOKEN|ACCESS_KEY_ID|SECRET_ACCESS_KEY|ROLE_ARN|WEB_IDENTITY_TOKEN_FILE|CONTAINER_CREDENTIALS.*)$/;
/** Of whoever started us, and of no use inside a worker thread. */
const OF_THE_PROCESS = /^(MALLOC_ARENA_MAX|NODE_OPTIONS|NODE_V8_COVERAGE|VITEST.*|npm_.*|AWS_(DEFAULT_)?REGION)$/;

/**
 * @param services what the embedded services say of themselves
 * @param user wins over them
 */
export function handlerEnvironment(
  services: Record<string, string>,
  user: Environment,
  config: Config,
  replaced: Replaced,
  home: string,
): Record<string, string> {
  const real = replaced.s3 || replaced.dynamo || replaced.scheduler;
  const kept = usable(user, real);
  return {
    VECTORS__SQLITE_PATH: join(home, "vectors.sqlite"),
    STORAGE__BUCKET: config.bucket,
    STATE__TABLE: config.stateTable,
    AWS_EC2_METADATA_DISABLED: "true",
    ...services,
    ...(real ? embeddedCredentials(services, replaced) : {}),
    ...kept,
  };
}

/** Where AWS's variables hold the owner's credentials, those of the services that are not replaced go beside them. */
function embeddedCredentials(services: Record<string, string>, replaced: Replaced): Record<string, string> {
  const embedded = [
    "sqs",
    "execute-api",
    ...(replaced.s3 ? [] : ["s3"]),
    ...(replaced.dynamo ? [] : ["dynamodb"]),
    ...(replaced.scheduler ? [] : ["scheduler"]),
  ];
  return {
    EMBEDDED_AWS_SERVICES: embedded.join(","),
    EMBEDDED_AWS_ACCESS_KEY_ID: services["AWS_ACCESS_KEY_ID"] ?? "",
    EMBEDDED_AWS_SECRET_ACCESS_KEY: services["AWS_SECRET_ACCESS_KEY"] ?? "",
  };
}

/** @param real whether a real service of AWS is used, with the owner's credentials */
function usable(user: Environment, real: boolean): Record<string, string> {
  const kept = Object.entries(user).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      entry[1] !== "" &&
      !OF_THE_PROCESS.test(entry[0]) &&
      (real || !OWN_CREDENTIALS.test(entry[0])),
  );
  return Object.fromEntries(kept);
}

const CONFIGURATION = new Set(Object.values(CONFIG_FIELDS).map(({ env }) => env));

/**
 * Of the environment of handlers, what may lie in a file: settings and where the services are. Variables that the
 * user's shell happens to hold stay out, and so do the user's own credentials.
 */
export const announcedEnvironment = (
  handlers: Readonly<Record<string, string>>,
  { accessKeyId, secretAccessKey }: EmbeddedCredentials,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(handlers).filter(([name, value]) =>
      OWN_CREDENTIALS.test(name)
        ? value === accessKeyId || value === secretAccessKey
        : CONFIGURATION.has(name) || /^(AWS|EMBEDDED_AWS)_/.test(name),
    ),
  );

/** The environment of handlers again, from what was announced and the variables of whoever asks now. */
export const restoredEnvironment = (
  announced: Readonly<Record<string, string>>,
  user: Environment,
): Record<string, string> => ({ ...usable(user, true), ...announced });
