import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { DynamoThread } from "../../../../local/aws/dynamo.ts";

test("an error that nobody can catch ends what was under way, and the next call is answered from what was stored", async () => {
  const directory = await mkdtemp(join(tmpdir(), "strandline dynamo "));
  const entry = join(import.meta.dirname, "../../../fixtures/dynamo/failing-entry.js");
  const thread = new DynamoThread(join(directory, "items"), entry);
  onTestFinished(async () => {
    await thread.stop();
    await rm(directory, { recursive: true, force: true });
  });
  await thread.started;
  const call = async (operation: string, body: unknown = {}) => {
    const headers = {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `DynamoDB_20120810.${operation}`,
      authorization: "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c",
      "x-amz-date": "20300131T100000Z",
    };
    const answer = await thread.answer({ method: "POST", url: "/", headers, body: Buffer.from(JSON.stringify(body)) });
    return { status: answer.status, body: JSON.parse(answer.body) as Record<string, unknown> };
  };
  await call("CreateTable", {
    TableName: "items",
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
  });
  const Item = { pk: { S: "kept" } };
  await expect.poll(async () => (await call("PutItem", { TableName: "items", Item })).status).toBe(200);
  for (let round = 0; round < 3; round += 1) {
    // answered as unknown before the error, or not at all because of it
    expect([400, 500]).toContain((await call("Fail")).status);
    const cut = await call("GetItem", { TableName: "items", Key: Item });
    const again = cut.status === 500 ? await call("GetItem", { TableName: "items", Key: Item }) : cut;
    expect(again).toEqual({ status: 200, body: { Item } });
  }
});
