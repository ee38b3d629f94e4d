/** The patch fits one version of fauxqs, and each of its parts is still needed there. */
import { mkdtemp, readFile, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fauxqs from "fauxqs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFauxqs } from "../../../../local/aws/fauxqs.ts";
import {
  FileS3Persistence,
  PATCHED_VERSION,
  PatchedMessages,
  S3Store,
  SnsStore,
  SqsStore,
} from "../../../../local/aws/fauxqs-patch.ts";
import { DurableObjects, objectFile } from "../../../../local/aws/fauxqs-state.ts";

const REPOSITORY = join(import.meta.dirname, "../../../..");

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "strandline fauxqs "));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const read = async (file: string) => JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;

test("is made for the version that is pinned and installed: look at docs/upstream/fauxqs.md before another one is", async () => {
  expect((await read(join(REPOSITORY, "node_modules/fauxqs/package.json")))["version"]).toBe(PATCHED_VERSION);
  const { dependencies } = await read(join(REPOSITORY, "package.json"));
  expect(dependencies).toMatchObject({ fauxqs: PATCHED_VERSION });
});

test("the package exports none of what the patch reaches for", () => {
  const reached = ["SqsStore", "SnsStore", "S3Store", "PersistenceManager", "FileS3Persistence"];
  expect(Object.keys(fauxqs).filter((name) => reached.includes(name))).toEqual([]);
});

test("a message that is handed back is ready again, which the package itself refuses to write", () => {
  const makeReady = (messages: InstanceType<typeof PatchedMessages>, method: "package" | "patch") => {
    const queues = new SqsStore();
    queues.persistence = messages;
    const queue = queues.createQueue("work", "http://127.0.0.1/work", "arn:aws:sqs:us-east-1:000000000000:work");
    queue.persistence = messages;
    const message = SqsStore.createMessage("{}");
    queue.enqueue(message);
    queue.dequeue(1);
    if (method === "patch") messages.updateMessageReady(message.messageId);
    else Object.getPrototypeOf(PatchedMessages.prototype).updateMessageReady.call(messages, message.messageId);
  };
  const messages = new PatchedMessages(directory, join(directory, "fauxqs.db"));
  try {
    expect(() => makeReady(messages, "package")).toThrow(/NOT NULL constraint failed/);
    messages.purgeAll();
    makeReady(messages, "patch");
    const again = new SqsStore();
    messages.loadSqsAndSns(again, new SnsStore());
    const [message] = again.getQueueByName("work")?.messages ?? [];
    expect(message?.approximateReceiveCount).toBe(1);
  } finally {
    messages.close();
  }
});

test.for([
  { name: "the package", make: (path: string) => new FileS3Persistence(path), outside: true },
  { name: "ours", make: (path: string) => new DurableObjects(path), outside: false },
])("whether a key can climb out of its bucket's folder: $name", async ({ make, outside }) => {
  const persistence = make(join(directory, "objects"));
  const store = new S3Store();
  store.persistence = persistence;
  store.createBucket("bucket");
  store.putObject("bucket", "../../../escaped", Buffer.from("x"), "text/plain", {});
  const found = await stat(join(directory, "objects", "escaped.data")).catch(() => undefined);
  expect(found !== undefined).toBe(outside);
  persistence.close();
});

test("objects above 11 MiB are refused by the package, and taken here", async () => {
  const put = { method: "PUT", url: "/bucket/large", payload: Buffer.alloc(12 * 1024 * 1024) } as const;
  const plain = fauxqs.buildApp({ logger: false });
  const patched = createFauxqs(undefined, "us-east-1").app;
  for (const [app, status] of [
    [plain, 413],
    [patched, 200],
  ] as const) {
    await app.inject({ method: "PUT", url: "/bucket" });
    expect((await app.inject({ ...put, headers: { "content-type": "application/octet-stream" } })).statusCode).toBe(
      status,
    );
    await app.close();
  }
});

test("a range of an object is read where it lies, however large the object is", async () => {
  const { app, stop } = createFauxqs(directory, "us-east-1");
  await app.inject({ method: "PUT", url: "/bucket" });
  const headers = { "content-type": "application/octet-stream" };
  await app.inject({ method: "PUT", url: "/bucket/large", headers, payload: Buffer.from("0123456789") });
  // more than can be read at once
  await truncate(objectFile(join(directory, "objects"), "bucket", "large"), 5 * 1024 ** 3);
  const read = async (range: string) => {
    const answer = await app.inject({ method: "GET", url: "/bucket/large", headers: { range } });
    return [answer.statusCode, answer.headers["content-range"], answer.headers["content-length"], answer.body];
  };
  expect(await read("bytes=3-5")).toEqual([206, "bytes 3-5/5368709120", "3", "345"]);
  expect(await read("bytes=5368709116-")).toEqual([206, "bytes 5368709116-5368709119/5368709120", "4", "\0\0\0\0"]);
  expect((await read("bytes=5368709120-"))[0]).toBe(416);
  const small = { method: "PUT", url: "/bucket/small", headers, payload: Buffer.from("abc") } as const;
  await app.inject(small);
  const both = await Promise.all([
    app.inject({ method: "GET", url: "/bucket/small", headers: { range: "bytes=1-1" } }),
    app.inject({ method: "GET", url: "/bucket/small" }),
  ]);
  expect(both.map(({ body }) => body)).toEqual(["b", "abc"]);
  await stop();
});
