import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HeadObjectCommand } from "@aws-sdk/client-s3";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { OPENAPI_FILE } from "../../../../checks/openapi.ts";
import { createHealthApi } from "../../../../functions/health-api/dependencies.ts";
import { api } from "../../../../functions/health-api/handler.ts";
import { createJobFlags } from "../../../../shared/crawl/tasks/job-flags.ts";
import { STATIC_DESCRIPTOR } from "../../../../shared/knowledge/embedders/static/static-descriptor.ts";
import { s3Client } from "../../../../shared/platform/aws/clients.ts";
import { connectDatabase } from "../../../../shared/platform/database/database.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { checkReadiness, databaseCheck, readOrWrite } from "../../../../shared/platform/observability/readiness.ts";
import { callApi } from "../../../services/api.ts";
import { httpDouble } from "../../../services/http-double.ts";
import { testDatabase } from "../../../services/index.ts";
import { addPages } from "../../knowledge/search/corpus.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
const directory = mkdtempSync(join(tmpdir(), "health-"));
beforeAll(async () => {
  setup = await setUpApi({ EMBEDDER__PROVIDER: "static", VECTORS__SQLITE_PATH: join(directory, "vectors.sqlite") });
});
afterAll(async () => {
  await setup.close();
  rmSync(directory, { recursive: true, force: true });
});

const ready = () => callApi(api, { path: "/api/v1/health/ready" });

it("is alive without a key", async () => {
  expect(await callApi(api, { path: "/api/v1/health" })).toMatchObject({ status: 200, body: { status: "ok" } });
});

it("is ready where every dependency answers", async () => {
  await expect.poll(ready).toMatchObject({
    status: 200,
    body: {
      status: "ok",
      checks: { postgres: "ok", s3: "ok", sqs: "ok", dynamodb: "ok", embedder: "ok", vectors: "ok" },
    },
  });
});

it("has written what it says is ready, once, and what it leaves behind ends by itself", async () => {
  const { aws, database } = setup;
  const s3 = s3Client();
  const written = async () => {
    const [row] = await database.sql`select count(*)::int as rows, max(written_at) as at from readiness`;
    const object = await s3.send(new HeadObjectCommand({ Bucket: aws.bucket, Key: "media/health" }));
    const { Item } = await aws.dynamo.send(new GetCommand({ TableName: aws.stateTable, Key: { pk: "health" } }));
    return [row?.["rows"], row?.["at"].getTime(), object.LastModified?.getTime(), Item?.["expires_at"]];
  };
  await expect.poll(ready).toMatchObject({ status: 200 });
  const first = await written();
  expect(first).toEqual([1, expect.any(Number), expect.any(Number), expect.any(Number)]);
  expect(Number(first[3])).toBeGreaterThan(Date.now() / 1000);
  expect(await ready()).toMatchObject({ status: 200 });
  expect(await written()).toEqual(first);
});

it("is not ready where the database takes no writes", async () => {
  const { url, drop } = await testDatabase();
  const alter = async (change: string) => {
    const admin = connectDatabase({ url, poolSize: 1 });
    await admin`set default_transaction_read_only = off`;
    await admin.unsafe(`alter database ${new URL(url).pathname.slice(1)} ${change}`);
    await admin.end();
  };
  await alter("set default_transaction_read_only = on");
  const sql = connectDatabase({ url, poolSize: 1 });
  expect(await checkReadiness({ postgres: databaseCheck(sql) }, 5_000, createLogger({}, "error"))).toEqual({
    ready: false,
    checks: { postgres: "failed: 25006" },
  });
  await sql.end();
  await alter("reset default_transaction_read_only");
  await drop();
});

it("a write is tried again after half a minute, and at once where it failed", async () => {
  let now = 0;
  const done: string[] = [];
  let fails = true;
  const check = readOrWrite(
    async () => done.push("read"),
    async () => {
      done.push("write");
      if (fails) throw new Error("read-only");
    },
    () => now,
  );
  const ask = () => checkReadiness({ it: check }, 1_000, createLogger({}, "error"));
  expect((await ask()).ready).toBe(false);
  fails = false;
  for (const at of [1_000, 2_000, 30_999, 31_000, 32_000]) {
    now = at;
    expect((await ask()).ready).toBe(true);
  }
  expect(done).toEqual(["write", "write", "read", "read", "write", "read"]);
});

it("is not ready while the vector store lacks what was embedded", async () => {
  const { sql } = setup.database;
  const [chunkId = ""] = await addPages(sql, [{ url: "https://site.example/", chunks: ["ebb and flood"] }]);
  await expect.poll(ready).toMatchObject({ status: 200 });
  await sql`
    insert into embeddings (chunk_id, state, model, dimension)
    values (${chunkId}, 'done', ${STATIC_DESCRIPTOR.model}, ${STATIC_DESCRIPTOR.dimension})`;
  const lacking = { status: 503, body: { checks: { vectors: "failed: VECTOR_STORE_EMPTY", embedder: "ok" } } };
  await expect.poll(ready).toMatchObject(lacking);
  // it wakes those who make them
  expect(await createJobFlags(setup.aws.dynamo, setup.aws.stateTable).activeSince()).toBeDefined();
  await sql`delete from embeddings`;
  await expect.poll(ready).toMatchObject({ status: 200 });
});

it("asks the reranker where one is configured, and says where it does not answer", async () => {
  let status = 200;
  const { url } = await httpDouble(() => ({ status, body: { model_id: "m", model_type: { reranker: {} } } }));
  process.env["TEI__RERANK_URL"] = url;
  onTestFinished(() => void delete process.env["TEI__RERANK_URL"]);
  const { checks, log } = createHealthApi();
  const ask = async () => (await checkReadiness(checks, 20_000, log)).checks["reranker"];
  expect(await ask()).toBe("ok");
  status = 503;
  expect(await ask()).toBe("failed: RERANKER_UNAVAILABLE");
});

const { paths } = JSON.parse(readFileSync(OPENAPI_FILE, "utf8"));

it("is documented with the same body where something does not answer", async () => {
  const { responses } = paths["/api/v1/health/ready"].get;
  expect(Object.keys(responses)).toEqual(["200", "400", "500", "503", "default"]);
  expect(responses[503].content).toEqual(responses[200].content);
  expect(paths["/healthz"].get.responses[503].content).toEqual(paths["/healthz"].get.responses[200].content);
});

it("is not ready once a dependency is gone, and says which, without its address", async () => {
  await setup.database.destroy();
  const unavailable = { status: 503, body: { status: "unavailable", checks: { s3: "ok", sqs: "ok" } } };
  await expect.poll(ready).toMatchObject(unavailable);
  const answer = await ready();
  expect(answer.body.checks.postgres).toMatch(/^failed: /);
  expect(JSON.stringify(answer.body)).not.toMatch(/127\.0\.0\.1|postgres:\/\//);
});

it("is ready again once a database that took its time to let us in answers", async () => {
  const { url, drop } = await testDatabase();
  const target = new URL(url);
  const { port, hostname } = target;
  const opened = Promise.withResolvers<void>();
  const door = createServer(async (client) => {
    await opened.promise;
    const server = connect(Number(port), hostname);
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  target.port = String((door.address() as AddressInfo).port);
  const sql = connectDatabase({ url: target.href, poolSize: 1 });
  const readiness = () => checkReadiness({ postgres: databaseCheck(sql) }, 100, createLogger({}, "error"));
  expect(await readiness()).toMatchObject({ ready: false });
  opened.resolve();
  await expect.poll(readiness).toEqual({ ready: true, checks: { postgres: "ok" } });
  await sql.end();
  await drop();
  door.close();
});

it("gives each check its own time, and waits for none that hangs", async () => {
  const hang = () => new Promise<never>(() => {});
  const checks = { first: hang, second: hang, third: async () => {} };
  const readiness = await checkReadiness(checks, 50, createLogger({}, "error"));
  expect(readiness).toEqual({
    ready: false,
    checks: { first: "failed: no answer within 50 ms", second: "failed: no answer within 50 ms", third: "ok" },
  });
});
