/**
 * What the data stack makes on AWS, made in the local services: the bucket, the state table, the queues of a topology.
 */
import { CreateTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, type S3Client } from "@aws-sdk/client-s3";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type QueueAttributeName,
  SetQueueAttributesCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { deadLetterQueue, type QueueSpec, type Topology, visibilityTimeoutS } from "../../infra/topology/spec.ts";
import { ACCOUNT, REGION } from "./emulators.ts";

export interface ResourceNames {
  bucket: string;
  stateTable: string;
  /** Before each queue's name; tests keep apart with it. */
  queuePrefix?: string;
}

interface Clients {
  sqs: SQSClient;
  s3: S3Client;
  dynamo: DynamoDBClient;
}

/** Makes what is missing and brings the queues' settings up to date; may be called again. */
export async function createResources(
  { sqs, s3, dynamo }: Clients,
  topology: Topology,
  { bucket, stateTable, queuePrefix = "" }: ResourceNames,
): Promise<void> {
  await Promise.all([
    ignore(["BucketAlreadyOwnedByYou", "BucketAlreadyExists"], s3.send(new CreateBucketCommand({ Bucket: bucket }))),
    ignore(
      ["ResourceInUseException"],
      dynamo.send(
        new CreateTableCommand({
          TableName: stateTable,
          BillingMode: "PAY_PER_REQUEST",
          AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
          KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
        }),
      ),
    ),
    ...topology.queues.map((queue) => createQueuePair(sqs, topology, queue, queuePrefix)),
  ]);
}

async function createQueuePair(sqs: SQSClient, topology: Topology, queue: QueueSpec, prefix: string): Promise<void> {
  const dead = deadLetterQueue(queue.name);
  await createQueue(sqs, prefix + dead, { VisibilityTimeout: String(visibilityTimeoutS(topology, dead)) });
  await createQueue(sqs, prefix + queue.name, {
    VisibilityTimeout: String(visibilityTimeoutS(topology, queue.name)),
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: `arn:aws:sqs:${REGION}:${ACCOUNT}:${prefix}${dead}`,
      maxReceiveCount: queue.maxReceiveCount,
    }),
  });
}

async function createQueue(
  sqs: SQSClient,
  QueueName: string,
  Attributes: Partial<Record<QueueAttributeName, string>>,
): Promise<void> {
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName }));
  const { Attributes: present = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
  );
  const changed = (Object.keys(Attributes) as QueueAttributeName[]).some((name) => present[name] !== Attributes[name]);
  if (changed) await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
}

async function ignore(names: readonly string[], call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof Error && names.includes(error.name))) throw error;
  }
}
