/** AWS resources of a test's own in the shared services. */
import { randomUUID } from "node:crypto";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DeleteObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { DeleteQueueCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { inject } from "vitest";
import { deadLetterQueue, type Topology } from "../../infra/topology/spec.ts";
import { TOPOLOGY } from "../../infra/topology.ts";
import { createResources } from "../../local/aws/resources.ts";
import { credentialsIn } from "../../local/front/credentials.ts";
import { createQueueCounter, createQueueSender, type QueueSender } from "../../shared/platform/aws/queues.ts";
import { whenTestEnds } from "./database.ts";
import { type MemoryQueues, memoryQueues } from "./memory-queues.ts";

export interface TestAws extends AsyncDisposable {
  sqs: SQSClient;
  s3: S3Client;
  dynamo: DynamoDBDocumentClient;
  bucket: string;
  /** Key `pk`, as in production. */
  stateTable: string;
  /** A queue's URL is this and its name in the topology. */
  queueUrlPrefix: string;
  /** For handlers and for `loadConfig`: endpoints, credentials, and the names above. */
  env: Record<string, string>;
  queues: QueueSender;
  messagesIn(queue: string): Promise<number>;
  /** Epoch ms by the clock of the queues. */
  now(): number;
  /**
   * Takes (and thereby hides) up to ten messages of a queue, parsed from JSON. Waits up to `waitS` seconds for the
   * first.
   */
  receive(queue: string, waitS?: number): Promise<unknown[]>;
  /** As a lifecycle rule of the bucket would. */
  removeObject(key: string): Promise<void>;
  close(): Promise<void>;
}

/** Queues of its own in memory, instead of the topology's. */
export type MemoryAws = TestAws & { queues: MemoryQueues };

export async function testAwsWithoutSqs(): Promise<MemoryAws> {
  const aws = await testAws({ topology: { ...TOPOLOGY, queues: [] } });
  const queues = memoryQueues();
  const messagesIn = async (queue: string) => queues.waiting(queue);
  return { ...aws, queues, messagesIn, receive: queues.receive, now: queues.now };
}

/**
 * Clients, a fresh bucket, state table and the topology's queues under a prefix of their own.
 *
 * @example
 * const { sqs, queueUrlPrefix } = await testAws();
 * const queues = createQueueSender(sqs, queueUrlPrefix);
 */
export async function testAws({ topology = TOPOLOGY }: { topology?: Topology } = {}): Promise<TestAws> {
  const shared = inject("awsEnv");
  const id = randomUUID().slice(0, 8);
  const common = {
    region: shared["AWS_REGION"] ?? "",
    credentials: credentialsIn(shared),
  };
  const endpoint = (service: string) => ({ endpoint: shared[`AWS_ENDPOINT_URL_${service}`] ?? "" });
  const sqs = new SQSClient({ ...common, ...endpoint("SQS") });
  const s3 = new S3Client({ ...common, ...endpoint("S3"), forcePathStyle: true });
  const dynamo = DynamoDBDocumentClient.from(new DynamoDBClient({ ...common, ...endpoint("DYNAMODB") }), {
    marshallOptions: { removeUndefinedValues: true },
  });
  const bucket = `test-${id}`;
  const stateTable = `state-${id}`;
  const queuePrefix = `t${id}-`;
  await createResources({ sqs, s3, dynamo }, topology, { bucket, stateTable, queuePrefix });
  await untilActive(dynamo, stateTable);
  const queueUrlPrefix = (shared["QUEUES__URL_PREFIX"] ?? "") + queuePrefix;
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    const names = topology.queues.flatMap(({ name }) => [name, deadLetterQueue(name)]);
    await Promise.all(names.map((name) => sqs.send(new DeleteQueueCommand({ QueueUrl: queueUrlPrefix + name }))));
    for (const client of [sqs, s3, dynamo]) client.destroy();
  };
  whenTestEnds(close);
  return {
    sqs,
    s3,
    dynamo,
    bucket,
    stateTable,
    queueUrlPrefix,
    queues: createQueueSender(sqs, queueUrlPrefix),
    messagesIn: createQueueCounter(sqs, queueUrlPrefix),
    now: Date.now,
    env: { ...shared, STORAGE__BUCKET: bucket, STATE__TABLE: stateTable, QUEUES__URL_PREFIX: queueUrlPrefix },
    async receive(queue, waitS = 0) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrlPrefix + queue,
          MaxNumberOfMessages: 10,
          WaitTimeSeconds: waitS,
        }),
      );
      return Messages.map((message) => JSON.parse(message.Body ?? "null") as unknown);
    },
    async removeObject(Key) {
      await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A table that has just been made is not there for a moment. */
async function untilActive(dynamo: DynamoDBDocumentClient, TableName: string): Promise<void> {
  let status: string | undefined;
  while (status !== "ACTIVE") status = (await dynamo.send(new DescribeTableCommand({ TableName }))).Table?.TableStatus;
}
