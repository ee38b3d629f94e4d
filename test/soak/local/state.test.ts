import { once } from "node:events";
import { join } from "node:path";
import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { invokeStore, isAlive } from "../../integration/local/stored-state.ts";
import { reader, spawnRuntime, testFolder } from "../../services/index.ts";

const Bucket = "strandline";

test("a killed runtime loses nothing: rows, objects, items, and the message that was in work", async () => {
  const directory = await testFolder();
  const home = join(directory, "a home");
  const seen = reader(directory);
  const first = await spawnRuntime(home, directory, ["holding", "store"]);
  await invokeStore(first.addresses.postgres, "create table kept (n int); insert into kept values (7)");
  await first.clients.s3.send(new PutObjectCommand({ Bucket, Key: "../kept/ü", Body: "kept" }));
  const TableName = "strandline-state";
  await first.clients.dynamo.send(new PutItemCommand({ TableName, Item: { pk: { S: "kept" }, n: { N: "7" } } }));
  await first.clients.send("work", { id: "in work", act: "hang" });
  await expect.poll(async () => (await seen("taken")).length).toBe(1);
  await first.clients.send("work", { id: "waiting" });
  first.child.kill("SIGKILL");
  await once(first.child, "exit");

  const second = await spawnRuntime(home, directory, ["holding", "store"]);
  expect(second.error).toBeUndefined();
  // at once, not after the visibility timeout of an hour
  await expect.poll(() => seen("taken")).toContainEqual(expect.objectContaining({ id: "in work", receiveCount: 2 }));
  expect(await invokeStore(second.addresses.postgres, "select n from kept")).toEqual([{ n: 7 }]);
  const object = await second.clients.s3.send(new GetObjectCommand({ Bucket, Key: "../kept/ü" }));
  expect(await object.Body?.transformToString()).toBe("kept");
  const { Item } = await second.clients.dynamo.send(new GetItemCommand({ TableName, Key: { pk: { S: "kept" } } }));
  expect(Item?.["n"]).toEqual({ N: "7" });
  second.child.kill("SIGTERM");
  await once(second.child, "exit");
  expect(await isAlive(second.postgresPid)).toBe(false);
});

test("a message that was in work at every one of many kills is still delivered, and never goes to the dead-letter queue", async () => {
  const directory = await testFolder();
  const home = join(directory, "home");
  const seen = reader(directory);
  for (let kill = 1; kill <= 5; kill += 1) {
    const { child, clients } = await spawnRuntime(home, directory, ["holding"]);
    if (kill === 1) await clients.send("work", { id: "in work", act: "hang" });
    await expect.poll(async () => (await seen("taken")).length).toBe(kill);
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

test("a Postgres that lost its runtime and its watchdog is stopped by the next start", async () => {
  const directory = await testFolder();
  const home = join(directory, "home");
  const first = await spawnRuntime(home, directory, ["store"]);
  await invokeStore(first.addresses.postgres, "create table kept (n int)");
  // the whole of it at once, Postgres included: nothing is shut down
  process.kill(first.postgresPid ?? 0, "SIGKILL");
  first.child.kill("SIGKILL");
  const second = await spawnRuntime(home, directory, ["store"]);
  expect(second.error).toBeUndefined();
  expect(await invokeStore(second.addresses.postgres, "select * from kept")).toEqual([]);
});
