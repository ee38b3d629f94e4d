import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { expect, onTestFinished, test } from "vitest";
import { AlreadyRunning } from "../../../local/home.ts";
import { topologyOf } from "../../fixtures/runtime/topology.ts";
import { reader, spawnRuntime, testFolder, testRuntime } from "../../services/index.ts";
import { invokeStore, isAlive } from "./stored-state.ts";

const Bucket = "strandline";

test("Postgres does not outlive a killed runtime", async () => {
  const directory = await testFolder();
  const { child, postgresPid } = await spawnRuntime(join(directory, "home"), directory, ["store"]);
  expect(await isAlive(postgresPid)).toBe(true);
  child.kill("SIGKILL");
  await expect.poll(() => isAlive(postgresPid)).toBe(false);
});

test("a Postgres that is killed comes back at the same address, with what was committed, and stops with its runtime", async () => {
  const { runtime, shown } = await testRuntime(["store"]);
  const url = runtime.addresses.postgres;
  await invokeStore(url, "create table kept (n int); insert into kept values (7)");
  for (let kill = 0; kill < 2; kill += 1) {
    const killed = runtime.postgresPid ?? 0;
    process.kill(killed, "SIGKILL");
    await expect.poll(() => runtime.postgresPid !== killed && isAlive(runtime.postgresPid)).toBe(true);
    expect(await invokeStore(url, "select n from kept")).toEqual([{ n: 7 }]);
  }
  expect(shown.join("\n")).toMatch(/PostgreSQL ended by itself \(SIGKILL\)[\s\S]*PostgreSQL runs again/);
  const last = runtime.postgresPid;
  await runtime.stop();
  expect(await isAlive(last)).toBe(false);
});

test("a runtime stops while its Postgres is being started again", async () => {
  const { runtime } = await testRuntime(["store"]);
  process.kill(runtime.postgresPid ?? 0, "SIGKILL");
  await runtime.stop();
  await expect.poll(() => isAlive(runtime.postgresPid)).toBe(false);
});

test("a restart keeps the addresses and the queue's messages", async () => {
  const directory = await testFolder();
  const options = { home: join(directory, "home"), env: { FIXTURE_DIRECTORY: directory } };
  const first = await testRuntime(["observer", "consumer"], options);
  await first.clients.s3.send(new PutObjectCommand({ Bucket, Key: "kept", Body: "kept" }));
  await first.clients.send("work", { id: "later" }, 2);
  await first.runtime.stop();
  const second = await testRuntime(["observer", "consumer"], options);
  expect(second.runtime.addresses).toMatchObject({
    s3: first.runtime.addresses.s3,
    dynamodb: first.runtime.addresses.dynamodb,
    scheduler: first.runtime.addresses.scheduler,
  });
  await expect.poll(() => reader(directory)("done")).toEqual([{ id: "later" }]);
});

test("a second start says where the first one runs", async () => {
  const directory = await testFolder();
  const home = join(directory, "home");
  const { runtime } = await testRuntime(["echo"], { home });
  await expect(testRuntime(["echo"], { home })).rejects.toThrow(AlreadyRunning);
  const other = await spawnRuntime(home, directory, ["echo"]);
  expect(other.error).toContain(`process ${process.pid} at ${runtime.url}`);
  expect((await fetch(`${runtime.url}/echo/a`)).status).toBe(200);
});

test("a port that is taken stops the start and leaves the folder free", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const home = join(await testFolder(), "home");
  await expect(testRuntime(["echo"], { home, port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  const { runtime } = await testRuntime(["echo"], { home });
  expect((await fetch(`${runtime.url}/echo/a`)).status).toBe(200);
});

test("bad configuration stops the start with every problem at once", async () => {
  const env = { LOG_LEVEL: "loud", TEI__URL_TYPO: "x", FETCH__CONNECT_TIMEOUT_MS: "soon" };
  const error = await testRuntime(["echo"], { env }).catch((reason: unknown) => reason);
  expect((error as Error).message).toMatch(
    /3 problem[\s\S]*TEI__URL_TYPO[\s\S]*LOG_LEVEL[\s\S]*FETCH__CONNECT_TIMEOUT_MS/,
  );
});

test("a database that the user names replaces the embedded one", async () => {
  const { runtime } = await testRuntime(["store"], { env: { DATABASE__POSTGRES_URL: "postgres://127.0.0.1:1/other" } });
  expect(runtime.postgresPid).toBeUndefined();
  expect(runtime.env["DATABASE__POSTGRES_URL"]).toBe("postgres://127.0.0.1:1/other");
});

test("credentials of the machine's owner do not reach the handlers", async () => {
  const env = {
    AWS_PROFILE: "prod",
    AWS_SESSION_TOKEN: "secret",
    AWS_ACCESS_KEY_ID: "AKIA",
    AWS_SECRET_ACCESS_KEY: "secret",
  };
  const { runtime } = await testRuntime(["echo"], { env });
  expect(Object.values(runtime.env)).not.toContain("secret");
  expect(runtime.env).toMatchObject({ AWS_ACCESS_KEY_ID: expect.stringMatching(/^LOCAL/) });
  expect(runtime.env["AWS_PROFILE"]).toBeUndefined();
});

test("stopping waits for the event in work, and not for one that never ends", async () => {
  const test = await testRuntime(["streamer", "patient"]);
  const hanging = fetch(`${test.runtime.url}/stream?chunks=1`).then((response) => response.arrayBuffer());
  await hanging;
  const stuck = fetch(`${test.runtime.url}/faulty`, { method: "POST", body: '{"how":"hang"}' }).catch(() => undefined);
  await expect.poll(() => test.runtime.usage().calls["apigateway.Request"]).toBe(2);
  const start = performance.now();
  await test.runtime.stop();
  await stuck;
  // the function itself would have been given two minutes
  expect(performance.now() - start).toBeLessThan(60_000);
});

test("usage counts calls, function time and dollars", async () => {
  const { runtime, clients, seen } = await testRuntime(["consumer", "echo"]);
  await clients.send("work", { id: "one" });
  await expect.poll(async () => (await seen("done")).length).toBe(1);
  await clients.s3.send(new PutObjectCommand({ Bucket, Key: "a", Body: "a" }));
  await clients.dynamo.send(
    new PutItemCommand({ TableName: "strandline-state", Item: { pk: { S: "a" }, text: { S: "x".repeat(3_100) } } }),
  );
  await fetch(`${runtime.url}/echo/a`);
  await expect.poll(() => runtime.usage().calls["sqs.DeleteMessageBatch"]).toBe(1);
  const answer = await fetch(`${runtime.url}/_local/usage`);
  const usage = (await answer.json()) as ReturnType<typeof runtime.usage>;
  expect(usage.calls).toEqual({
    "sqs.SendMessage": 1,
    "sqs.ReceiveMessage": expect.any(Number),
    "sqs.DeleteMessageBatch": 1,
    "s3.PutObject": 1,
    "dynamodb.PutItem": 1,
    "apigateway.Request": 1,
  });
  expect(usage.functions["consumer"]?.invocations).toBe(1);
  // 3 KB and a little are four write units
  expect(usage.usd["dynamodb"]).toBeCloseTo((4 * 0.625) / 1_000_000, 12);
  expect(usage.totalUsd).toBeGreaterThan(0);
});

test("every container may hold its database connections at once, and a tool may look in", async () => {
  const [store] = topologyOf("store").functions;
  const containers = 70;
  const { runtime } = await testRuntime([], {
    topology: { functions: store ? [{ ...store, localContainers: containers }] : [], queues: [] },
    env: { DATABASE__POOL_SIZE: "2" },
  });
  const answer = (await runtime.invoke("store", { statement: "show max_connections" })) as {
    max_connections: string;
  }[];
  expect(Number(answer[0]?.max_connections)).toBeGreaterThan(2 * containers + 10);
});
