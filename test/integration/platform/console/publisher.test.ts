/** The files of the console in their bucket, as CloudFormation has them brought there and taken out. */
import { access, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import type { CloudFormationCustomResourceEvent } from "aws-lambda";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { buildConsolePublisher, type ConsolePublisher } from "../../../../infra/console-publisher.ts";
import { type TestAws, testAws } from "../../../services/aws.ts";

let folder: string;
let publisher: ConsolePublisher;
let handler: (event: CloudFormationCustomResourceEvent) => Promise<void>;
let aws: TestAws;
let server: Server;
let told: Record<string, unknown>[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "console publisher-"));
  publisher = await buildConsolePublisher(join(folder, "publisher"));
  aws = await testAws({ topology: { functions: [], queues: [] } });
  for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
  // the very bundle that Lambda gets
  ({ handler } = await import(pathToFileURL(join(publisher.directory, "index.mjs")).href));
  server = createServer(async (request, response) => {
    told.push({ ...JSON.parse(await text(request)), method: request.method, type: request.headers["content-type"] });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  server.close();
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

async function call(RequestType: "Create" | "Update" | "Delete", more: object = {}): Promise<Record<string, unknown>> {
  told = [];
  const event = {
    RequestType,
    ResponseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/answer`,
    StackId: "stack",
    RequestId: "request",
    LogicalResourceId: "Published",
    ResourceType: "Custom::ConsoleFiles",
    ServiceToken: "function",
    ResourceProperties: { ServiceToken: "function", Bucket: aws.bucket, Keys: publisher.keys },
    ...more,
  };
  await handler(event as unknown as CloudFormationCustomResourceEvent);
  expect(told).toHaveLength(1);
  return told[0] ?? {};
}

async function keys(): Promise<string[]> {
  const { Contents = [] } = await aws.s3.send(new ListObjectsV2Command({ Bucket: aws.bucket }));
  return Contents.map(({ Key = "" }) => Key).toSorted();
}
const put = (Key: string) => aws.s3.send(new PutObjectCommand({ Bucket: aws.bucket, Key, Body: "old" }));

test("each file is there as browsers are to have it", async () => {
  expect(await call("Create")).toEqual({
    Status: "SUCCESS",
    PhysicalResourceId: aws.bucket,
    StackId: "stack",
    RequestId: "request",
    LogicalResourceId: "Published",
    method: "PUT",
    // the URL is signed for none
    type: "",
  });
  expect(await keys()).toEqual(publisher.keys.toSorted());
  expect(publisher.keys.at(-1)).toBe("console/index.html");
  const read = async (Key: string) => aws.s3.send(new GetObjectCommand({ Bucket: aws.bucket, Key }));
  const index = await read("console/index.html");
  expect([index.ContentType, index.CacheControl]).toEqual(["text/html; charset=utf-8", "no-cache"]);
  const [, script = ""] = /src="(assets\/[^"]+)"/.exec((await index.Body?.transformToString()) ?? "") ?? [];
  const { ContentType, CacheControl, Body } = await read(`console/${script}`);
  expect([ContentType, CacheControl]).toEqual([
    "text/javascript; charset=utf-8",
    "public, max-age=31536000, immutable",
  ]);
  expect(await Body?.transformToString()).toBe(
    await readFile(join(publisher.directory, "files", "console", script), "utf8"),
  );
});

test("what open pages of the build before may ask for stays, and what is older goes", async () => {
  await put("console/assets/before-AAAAAAAA.js");
  await put("console/assets/long-ago-BBBBBBBB.js");
  const OldResourceProperties = { Keys: ["console/assets/before-AAAAAAAA.js", "console/index.html"] };
  expect(await call("Update", { OldResourceProperties })).toMatchObject({ Status: "SUCCESS" });
  expect(await keys()).toEqual([...publisher.keys, "console/assets/before-AAAAAAAA.js"].toSorted());
});

test("nothing is left in the bucket that is to go", async () => {
  expect(await call("Delete")).toMatchObject({ Status: "SUCCESS", PhysicalResourceId: aws.bucket });
  expect(await keys()).toEqual([]);
});

test("CloudFormation is told what went wrong, and does not wait", async () => {
  const ResourceProperties = { Bucket: `${aws.bucket}-nowhere`, Keys: publisher.keys };
  const { Status, Reason } = await call("Create", { ResourceProperties });
  expect([Status, Reason]).toEqual(["FAILED", expect.stringContaining("NoSuchBucket")]);
});

test("the function's code holds the console and nothing else, in little space", async () => {
  expect((await readdir(publisher.directory)).toSorted()).toEqual(["files", "files.json", "index.mjs"]);
  await access(join(publisher.directory, "files", "console", "index.html"));
  const code = await readFile(join(publisher.directory, "index.mjs"));
  expect(code.length).toBeLessThan(1_500_000);
});
