/**
 * Makes the AWS clients, one each per container. Endpoints come from the SDK's own AWS_ENDPOINT_URL_* variables, so
 * nothing here knows whether it runs on AWS or on a laptop. The pure marks let a bundle leave out the clients that it
 * never uses: 180 KB of 900.
 */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { once } from "../once.ts";

/**
 * In ms. Without them a service that takes a connection and never answers holds a call for as long as its function
 * runs. The SDK begins to count 3 s late, so three tries of a silent one stay within the 29 s that API Gateway waits.
 */
const requestHandler = { connectionTimeout: 3_000, socketTimeout: 6_000 };

/**
 * Of a service that a laptop embeds while AWS's own variables hold somebody's real ones, for another service.
 * @param service its name in signatures
 * @returns nothing where the SDK finds the right ones by itself
 */
export function embeddedCredentials(
  service: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): { credentials?: { accessKeyId: string; secretAccessKey: string } } {
  const { EMBEDDED_AWS_SERVICES: services = "" } = env;
  if (!services.split(",").includes(service)) return {};
  const { EMBEDDED_AWS_ACCESS_KEY_ID: accessKeyId = "", EMBEDDED_AWS_SECRET_ACCESS_KEY: secretAccessKey = "" } = env;
  return { credentials: { accessKeyId, secretAccessKey } };
}

export const sqsClient = /* @__PURE__ */ once(() => new SQSClient({ requestHandler, ...embeddedCredentials("sqs") }));
export const secretsClient = /* @__PURE__ */ once(() => new SecretsManagerClient({ requestHandler }));
export const schedulerClient = /* @__PURE__ */ once(
  () => new SchedulerClient({ requestHandler, ...embeddedCredentials("scheduler") }),
);
/**
 * DynamoDB with items as plain objects. The state table's key is `pk`; its TTL attribute is `expires_at`, in seconds.
 */
export const dynamoClient = /* @__PURE__ */ once(() =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ requestHandler, ...embeddedCredentials("dynamodb") }), {
    marshallOptions: { removeUndefinedValues: true },
  }),
);
/** Path-style where an endpoint is named: virtual-hosted bucket names need DNS that a laptop does not have. */
export const s3Client = /* @__PURE__ */ once(
  () =>
    new S3Client({
      requestHandler,
      forcePathStyle: process.env["AWS_ENDPOINT_URL_S3"] !== undefined,
      ...embeddedCredentials("s3"),
    }),
);
