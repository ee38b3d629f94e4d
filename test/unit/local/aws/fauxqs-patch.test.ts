/** The patch fits one version of fauxqs, and each of its parts is still needed there. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import * as fauxqs from "fauxqs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type LocalAws, startAws } from "../../../../local/aws/emulators.ts";
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
import { credentialsIn } from "../../../../local/front/credentials.ts";

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

describe("a large object", () => {
  let aws: LocalAws;
  let s3: S3Client;
  const file = (key: string) => objectFile(join(directory, "objects"), "bucket", key);
  const left = () => readdir(join(directory, "objects/partial"));
  beforeEach(async () => {
    aws = await startAws({ directory });
    const credentials = credentialsIn(aws.env);
    s3 = new S3Client({
      region: "us-east-1",
      credentials,
      endpoint: aws.sqsAndS3,
      forcePathStyle: true,
      maxAttempts: 1,
    });
    await s3.send(new CreateBucketCommand({ Bucket: "bucket" }));
  });
  afterEach(async () => {
    s3.destroy();
    await aws.stop();
  });

  test("is read where it lies, as a whole and in ranges, however large it is", async () => {
    await s3.send(new PutObjectCommand({ Bucket: "bucket", Key: "large", Body: "0123456789" }));
    // more than can be read at once
    await truncate(file("large"), 5 * 1024 ** 3);
    const get = (Range?: string) => s3.send(new GetObjectCommand({ Bucket: "bucket", Key: "large", Range }));
    const read = async (range: string) => {
      const { $metadata, ContentRange, ContentLength, Body } = await get(range);
      return [$metadata.httpStatusCode, ContentRange, ContentLength, await Body?.transformToString()];
    };
    expect(await read("bytes=3-5")).toEqual([206, "bytes 3-5/5368709120", 3, "345"]);
    expect(await read("bytes=5368709116-")).toEqual([206, "bytes 5368709116-5368709119/5368709120", 4, "\0\0\0\0"]);
    await expect(get("bytes=5368709120-")).rejects.toMatchObject({ $metadata: { httpStatusCode: 416 } });
    const { ContentLength, Body } = await get("bytes=5-");
    expect(ContentLength).toBe(5 * 1024 ** 3 - 5);
    for await (const chunk of Body as AsyncIterable<Buffer>) {
      expect(Buffer.from(chunk).toString("latin1", 0, 6)).toBe("56789\0");
      break;
    }
    await s3.send(new PutObjectCommand({ Bucket: "bucket", Key: "small", Body: "abc" }));
    const small = (Range?: string) => s3.send(new GetObjectCommand({ Bucket: "bucket", Key: "small", Range }));
    const both = await Promise.all([small("bytes=1-1"), small()]);
    expect(await Promise.all(both.map(({ Body }) => Body?.transformToString()))).toEqual(["b", "abc"]);
  });

  test("is written as it comes, and is refused where it is not the one that was announced", async () => {
    const body = randomBytes(3 * 1024 ** 2);
    const put = async (key: string, stated: Buffer) => {
      const ChecksumSHA256 = createHash("sha256").update(stated).digest("base64");
      const command = new PutObjectCommand({ Bucket: "bucket", Key: key, ContentLength: body.length, ChecksumSHA256 });
      const unhoistableHeaders = new Set(["x-amz-checksum-sha256"]);
      const url = await getSignedUrl(s3, command, { unhoistableHeaders });
      return await fetch(url, { method: "PUT", body, headers: { "x-amz-checksum-sha256": ChecksumSHA256 } });
    };
    const taken = await put("taken", body);
    const etag = `"${createHash("md5").update(body).digest("hex")}"`;
    expect([taken.status, taken.headers.get("etag")]).toEqual([200, etag]);
    expect((await readFile(file("taken"))).equals(body)).toBe(true);
    const head = await s3.send(new HeadObjectCommand({ Bucket: "bucket", Key: "taken" }));
    expect([head.ContentLength, head.ETag]).toEqual([body.length, etag]);
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: "bucket", Key: "taken" }));
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(body)).toBe(true);
    const other = await put("other", Buffer.from("another"));
    expect([other.status, await other.text()]).toEqual([400, expect.stringContaining("BadDigest")]);
    await expect(s3.send(new HeadObjectCommand({ Bucket: "bucket", Key: "other" }))).rejects.toThrow();
    await expect.poll(left).toEqual([]);
  });
});
