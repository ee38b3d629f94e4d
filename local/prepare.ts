/**
 * What a start makes ready before anything runs: the resources of the topology, and the work that a killed runtime
 * held.
 */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { Topology } from "../infra/topology/spec.ts";
import type { SqsStore } from "./aws/fauxqs.ts";
import { createResources } from "./aws/resources.ts";
import { freeLeftBehind } from "./interrupted-work.ts";

/** The environment of the handlers. */
type Environment = Readonly<Record<string, string>>;

/** The bucket, the state table and the queues, made where they are missing. */
export async function prepareResources(
  env: Environment,
  topology: Topology,
  names: { bucket: string; stateTable: string },
): Promise<void> {
  const clients = {
    s3: new S3Client({ ...client(env, "AWS_ENDPOINT_URL_S3"), forcePathStyle: true }),
    sqs: new SQSClient(client(env, "AWS_ENDPOINT_URL_SQS")),
    dynamo: new DynamoDBClient(client(env, "AWS_ENDPOINT_URL_DYNAMODB")),
  };
  await createResources(clients, topology, names);
  for (const each of Object.values(clients)) each.destroy();
}

/** Leases and slots that a killed runtime took with it are free again; without a database there are none. */
export async function freeInterruptedWork(env: Environment, stateTable: string, queues: SqsStore): Promise<void> {
  const databaseUrl = env["DATABASE__POSTGRES_URL"];
  if (databaseUrl === undefined) return;
  const dynamo = new DynamoDBClient(client(env, "AWS_ENDPOINT_URL_DYNAMODB"));
  await freeLeftBehind({ databaseUrl, dynamo, stateTable, queues });
  dynamo.destroy();
}

function client(env: Environment, endpointName: string) {
  const { AWS_REGION: region = "", AWS_ACCESS_KEY_ID = "", AWS_SECRET_ACCESS_KEY = "" } = env;
  const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  return { region, credentials, endpoint: env[endpointName] ?? "" };
}
