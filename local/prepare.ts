/**
 * What a start makes ready before anything runs: the resources of the topology, and the work that a killed runtime
 * held.
 */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { Topology } from "../infra/topology/spec.ts";
import { embeddedCredentials } from "../shared/platform/aws/clients.ts";
import type { SqsStore } from "./aws/fauxqs.ts";
import { createResources } from "./aws/resources.ts";
import { credentialsIn } from "./front/credentials.ts";
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
    s3: new S3Client({ ...client(env, "S3"), forcePathStyle: true }),
    sqs: new SQSClient(client(env, "SQS")),
    dynamo: new DynamoDBClient(client(env, "DYNAMODB")),
  };
  await createResources(clients, topology, names);
  for (const each of Object.values(clients)) each.destroy();
}

/** Leases and slots that a killed runtime took with it are free again; without a database there are none. */
export async function freeInterruptedWork(env: Environment, stateTable: string, queues: SqsStore): Promise<void> {
  const databaseUrl = env["DATABASE__POSTGRES_URL"];
  if (databaseUrl === undefined) return;
  const dynamo = new DynamoDBClient(client(env, "DYNAMODB"));
  await freeLeftBehind({ databaseUrl, dynamo, stateTable, queues });
  dynamo.destroy();
}

function client(env: Environment, service: "S3" | "SQS" | "DYNAMODB") {
  const { AWS_REGION: region = "" } = env;
  const endpoint = env[`AWS_ENDPOINT_URL_${service}`] ?? "";
  return { region, credentials: credentialsIn(env), ...embeddedCredentials(service.toLowerCase(), env), endpoint };
}
