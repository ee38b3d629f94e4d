import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { testAws, testDatabase } from "../../services/index.ts";

test("each test database is migrated and its own", async () => {
  const [one, other] = await Promise.all([testDatabase(), testDatabase()]);
  await one.sql`insert into collections (id, name) values (gen_random_uuid(), 'only here')`;
  expect(await one.sql`select name from collections`).toEqual([{ name: "only here" }]);
  expect(await other.sql`select name from collections`).toEqual([]);
});

test("the server folds the case of letters beyond ASCII", async () => {
  const { sql } = await testDatabase();
  expect(await sql`select lower('ÀÉÎ') as folded`).toEqual([{ folded: "àéî" }]);
});

test("queues, bucket and state table of a test are usable through the SDK", async () => {
  const aws = await testAws();
  await aws.sqs.send(
    new SendMessageCommand({ QueueUrl: `${aws.queueUrlPrefix}captures`, MessageBody: JSON.stringify({ a: 1 }) }),
  );
  expect(await aws.receive("captures")).toEqual([{ a: 1 }]);
  expect(await aws.receive("captures")).toEqual([]);
  await aws.s3.send(new PutObjectCommand({ Bucket: aws.bucket, Key: "a/b c.txt", Body: "text" }));
  const object = await aws.s3.send(new GetObjectCommand({ Bucket: aws.bucket, Key: "a/b c.txt", Range: "bytes=1-2" }));
  expect(await object.Body?.transformToString()).toBe("ex");
  await aws.dynamo.send(new PutCommand({ TableName: aws.stateTable, Item: { pk: "one", n: 5 } }));
  const { Item } = await aws.dynamo.send(new GetCommand({ TableName: aws.stateTable, Key: { pk: "one" } }));
  expect(Item).toEqual({ pk: "one", n: 5 });
});

test("queues carry the visibility timeout and the dead-letter queue of the topology", async () => {
  const aws = await testAws();
  const { Attributes } = await aws.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: `${aws.queueUrlPrefix}captures`, AttributeNames: ["All"] }),
  );
  expect(Attributes?.["VisibilityTimeout"]).toBe("360");
  expect(JSON.parse(Attributes?.["RedrivePolicy"] ?? "{}")).toMatchObject({ maxReceiveCount: 12 });
});
