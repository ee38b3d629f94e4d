import { PostToConnectionCommand } from "@aws-sdk/client-apigatewaymanagementapi";
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { S3Event } from "aws-lambda";
import { expect, test } from "vitest";
import WebSocket from "ws";
import { testRuntime } from "../../../services/index.ts";

const Bucket = "strandline";

test("an object that was written under the prefix becomes a message of its queue, others do not", async () => {
  const { clients, seen } = await testRuntime(["observer"]);
  await clients.s3.send(new PutObjectCommand({ Bucket, Key: "elsewhere/a.gz", Body: "no" }));
  await clients.s3.send(new PutObjectCommand({ Bucket, Key: "incoming/a.txt", Body: "no" }));
  await clients.s3.send(new PutObjectCommand({ Bucket, Key: "incoming/a b+ü.gz", Body: "yes" }));
  await expect.poll(async () => (await seen("observed")).length).toBe(1);
  const [event] = await seen<S3Event>("observed");
  expect(event?.Records[0]).toMatchObject({
    eventSource: "aws:s3",
    eventName: "ObjectCreated:Put",
    s3: { bucket: { name: Bucket }, object: { key: "incoming/a+b%2B%C3%BC.gz", size: 3 } },
  });
});

test("copies and uploads in parts become events of their own kind", async () => {
  const { clients, seen } = await testRuntime(["observer"]);
  const { s3 } = clients;
  await s3.send(new PutObjectCommand({ Bucket, Key: "source", Body: "text" }));
  await s3.send(new CopyObjectCommand({ Bucket, Key: "incoming/copy.gz", CopySource: `${Bucket}/source` }));
  const Key = "incoming/parts.gz";
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const { ETag } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: "part" }));
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
  const names = async () => (await seen<S3Event>("observed")).map(({ Records }) => Records[0]?.eventName);
  await expect.poll(names).toEqual(["ObjectCreated:Copy", "ObjectCreated:CompleteMultipartUpload"]);
});

test("an object larger than 11 MB is stored whole", async () => {
  const { clients } = await testRuntime(["observer"]);
  const { ETag } = await clients.s3.send(
    new PutObjectCommand({ Bucket, Key: "large", Body: Buffer.alloc(20 * 1024 * 1024, 7) }),
  );
  expect(ETag).toBeDefined();
});

test("a schedule of the topology runs its function again and again", async () => {
  const { seen } = await testRuntime(["ticked"]);
  await expect.poll(async () => (await seen("observed")).length).toBeGreaterThanOrEqual(3);
  expect((await seen("observed"))[0]).toMatchObject({
    source: "aws.scheduler",
    "detail-type": "Scheduled Event",
    resources: ["arn:aws:scheduler:us-east-1:000000000000:schedule/default/tick"],
  });
});

test("a WebSocket connects, speaks, hears and leaves, and its path names the job", async () => {
  const { runtime, seen } = await testRuntime(["socket"]);
  const socket = new WebSocket(`${runtime.url.replace("http", "ws")}/api/v1/ws/crawl/42?x=y`);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const heard = new Promise((resolve) => socket.once("message", (data) => resolve(String(data))));
  socket.send("hello");
  expect(await heard).toBe("heard hello");
  socket.close();
  await expect
    .poll(() => seen("socket"))
    .toEqual([
      { routeKey: "$connect", query: { x: "y", job_id: "42" } },
      { routeKey: "$default", body: "hello" },
      { routeKey: "$disconnect" },
    ]);
});

test("a WebSocket that the function refuses is not opened", async () => {
  const { runtime } = await testRuntime(["socket"]);
  const socket = new WebSocket(`${runtime.url.replace("http", "ws")}/?refuse=1`);
  const status = await new Promise((resolve) => {
    socket.once("unexpected-response", (_request, response) => resolve(response.statusCode));
    socket.on("error", () => {});
  });
  expect(status).toBe(403);
});

test("the handler chooses the subprotocol and may answer a message", async () => {
  const { runtime } = await testRuntime(["socket"]);
  const socket = new WebSocket(runtime.url.replace("http", "ws"), ["private", "chosen"]);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  expect(socket.protocol).toBe("chosen");
  const heard = new Promise((resolve) => socket.once("message", (data) => resolve(String(data))));
  socket.send("answer");
  expect(await heard).toBe("answered");
});

test("a client that sends faster than the handler works is read more slowly, and nothing is lost", async () => {
  const { runtime, seen } = await testRuntime(["socket"]);
  const socket = new WebSocket(runtime.url.replace("http", "ws"), ["chosen"]);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const texts = Array.from({ length: 200 }, (_, index) => `message ${index}`);
  for (const text of texts) socket.send(text);
  const bodies = async () =>
    (await seen<{ body?: string }>("socket")).map(({ body }) => body).filter((body) => body !== undefined);
  await expect.poll(bodies).toEqual(texts);
});

test("writing to a connection that is gone answers 410, and 403 where nobody signed it", async () => {
  const { runtime, clients } = await testRuntime(["socket"]);
  const post = new PostToConnectionCommand({ ConnectionId: "nobody=", Data: "x" });
  await expect(clients.management.send(post)).rejects.toMatchObject({ name: "GoneException" });
  expect((await fetch(`${runtime.url}/@connections/nobody`, { method: "POST", body: "x" })).status).toBe(403);
});

test("a WebSocket is opened for no page from elsewhere", async () => {
  const { runtime } = await testRuntime(["socket"]);
  const answers = ["https://evil.example", "null", "http://localhost:3000"].map(async (origin) => {
    const socket = new WebSocket(runtime.url.replace("http", "ws"), ["chosen"], { origin });
    const status = await new Promise((resolve) => {
      socket.once("unexpected-response", (_request, response) => resolve(response.statusCode));
      socket.once("open", () => resolve("open")).on("error", () => {});
    });
    socket.terminate();
    return status;
  });
  expect(await Promise.all(answers)).toEqual([403, 403, "open"]);
});
