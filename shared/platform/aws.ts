/**
 * AWS clients, one each per container. Endpoints come from the SDK's own AWS_ENDPOINT_URL_* variables, so nothing
 * here knows whether it runs on AWS or on a laptop.
 * The pure marks let a bundle leave out the clients that it never uses: 180 KB of 900.
 */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { once } from "./once.ts";

export const sqsClient = /* @__PURE__ */ once(() => new SQSClient({}));
export const secretsClient = /* @__PURE__ */ once(() => new SecretsManagerClient({}));
/** Items as plain objects. The state table's key is `pk`; its TTL attribute is `expires_at`, in seconds. */
export const dynamoClient = /* @__PURE__ */ once(() =>
  DynamoDBDocumentClient.from(new DynamoDBClient({}), { marshallOptions: { removeUndefinedValues: true } }),
);
/** Path-style where an endpoint is named: virtual-hosted bucket names need DNS that a laptop does not have. */
export const s3Client = /* @__PURE__ */ once(
  () => new S3Client({ forcePathStyle: process.env["AWS_ENDPOINT_URL_S3"] !== undefined }),
);
