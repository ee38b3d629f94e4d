/** The patch fits one version of fauxqs, and each of its parts is still needed there. */
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
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
import { DurableObjects } from "../../../../local/aws/fauxqs-state.ts";

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
