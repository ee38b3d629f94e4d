/** The ports of the embedded services against whoever has no business there, and against whatever may be sent. */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { CreateTableCommand, DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { CreateQueueCommand, ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { SignatureV4 } from "@smithy/signature-v4";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalAws, startAws } from "../../../../local/aws/emulators.ts";
import { credentialsIn, type EmbeddedCredentials } from "../../../../local/front/credentials.ts";
import { startScheduler } from "../../../../local/scheduler/scheduler-server.ts";

let aws: LocalAws;
let scheduler: Awaited<ReturnType<typeof startScheduler>>;
let credentials: EmbeddedCredentials;
beforeAll(async () => {
  aws = await startAws();
  credentials = credentialsIn(aws.env);
  scheduler = await startScheduler({ groups: [], fire: () => {}, onCall: () => {}, signatures: aws.signatures });
});
afterAll(async () => {
  await Promise.all([aws.stop(), scheduler.stop()]);
});

const client = (given = credentials) => ({ region: "us-east-1", credentials: given, maxAttempts: 1 });
const s3 = (given = credentials) => new S3Client({ ...client(given), endpoint: aws.sqsAndS3, forcePathStyle: true });
const dynamo = (given = credentials) => new DynamoDBClient({ ...client(given), endpoint: aws.dynamo });
const sqs = (given = credentials) => new SQSClient({ ...client(given), endpoint: aws.sqsAndS3 });

class Sha256 {
  readonly #hash;
  constructor(secret?: unknown) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as string);
  }
  update(data: Uint8Array) {
    this.#hash.update(data);
  }
  async digest() {
    return this.#hash.digest();
  }
  reset() {}
}

/** Sends what no SDK would, signed as it would. */
async function signed(
  endpoint: string,
  service: string,
  { method = "POST", path = "/", body = "", headers = {} as Record<string, string> },
): Promise<{ status: number; text: string }> {
  const { host, hostname, port } = new URL(endpoint);
  const signer = new SignatureV4({ credentials, region: "us-east-1", service, sha256: Sha256 });
  const request = await signer.sign({
    method,
    protocol: "http:",
    hostname,
    port: Number(port),
    path,
    query: {},
    headers: { host, ...headers },
    body,
  });
  const response = await fetch(endpoint + path, { method, headers: request.headers, ...(body === "" ? {} : { body }) });
  return { status: response.status, text: await response.text() };
}

const toDynamo = (operation: string, body: string) =>
  signed(aws.dynamo, "dynamodb", {
    body,
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `DynamoDB_20120810.${operation}` },
  });

test("what is signed with the credentials of this start is done, text beyond ASCII and odd keys included", async () => {
  await sqs().send(new CreateQueueCommand({ QueueName: "asked" }));
  await s3().send(new CreateBucketCommand({ Bucket: "bucket" }));
  const Key = "a b+c=d&e/ü '()*!~.txt";
  await s3().send(new PutObjectCommand({ Bucket: "bucket", Key, Body: "grüße", Metadata: { said: "a  b" } }));
  const object = await s3().send(new GetObjectCommand({ Bucket: "bucket", Key, ResponseContentType: "text/x; a=b" }));
  expect(await object.Body?.transformToString()).toBe("grüße");
});

const STRANGERS = [
  ["no signature", undefined],
  ["another key", { accessKeyId: "local", secretAccessKey: "local" }],
  ["the right key and another secret", { secretAccessKey: "local" }],
] as const;

test.for(STRANGERS)("with %s nothing is served on any port", async ([, stranger]) => {
  if (stranger === undefined) {
    const paths = ["/", "/bucket", "/bucket/key", "/_fauxqs/queues", "/health", "/schedules", "/schedules/a"];
    for (const endpoint of [aws.sqsAndS3, aws.dynamo, scheduler.url]) {
      for (const method of ["GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS"]) {
        for (const path of paths) {
          const { status } = await fetch(endpoint + path, { method });
          expect([400, 403], `${method} ${path}`).toContain(status);
        }
      }
    }
    const forms = ["Action=ListTopics", "Action=GetCallerIdentity", "Action=Publish&Message=x"];
    for (const form of forms) {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      expect((await fetch(aws.sqsAndS3, { method: "POST", body: form, headers })).status).toBe(403);
    }
    return;
  }
  const given = { ...credentials, ...stranger };
  const name = expect.stringMatching(/^(InvalidAccessKeyId|SignatureDoesNotMatch|UnrecognizedClient.*|Invalid.*)$/);
  await expect(sqs(given).send(new ListQueuesCommand({}))).rejects.toMatchObject({ name });
  await expect(dynamo(given).send(new GetItemCommand({ TableName: "aaa", Key: {} }))).rejects.toMatchObject({ name });
  await expect(s3(given).send(new GetObjectCommand({ Bucket: "bucket", Key: "a" }))).rejects.toMatchObject({ name });
  await expect(s3(given).send(new HeadObjectCommand({ Bucket: "bucket", Key: "a" }))).rejects.toThrow();
});

/** As clients of S3 sign; made once the credentials are known. */
const s3Signer = () =>
  new SignatureV4({ credentials, region: "us-east-1", service: "s3", sha256: Sha256, uriEscapePath: false });

test("a body, a path or a header other than the signed one is refused", async () => {
  const { host } = new URL(aws.sqsAndS3);
  const request = { method: "PUT", protocol: "http:", hostname: "", path: "/bucket/signed", query: {}, body: "one" };
  const { headers } = await s3Signer().sign({ ...request, headers: { host, "x-amz-meta-said": "one" } });
  const put = async (path: string, body: string, more: Record<string, string> = {}) =>
    (await fetch(aws.sqsAndS3 + path, { method: "PUT", body, headers: { ...headers, ...more } })).status;
  expect(await put("/bucket/signed", "two")).toBe(403);
  expect(await put("/bucket/other", "one")).toBe(403);
  expect(await put("/bucket/signed?acl", "one")).toBe(403);
  expect(await put("/bucket/signed", "one", { "x-amz-meta-said": "two" })).toBe(403);
  expect(await put("/bucket/signed", "one", { "x-amz-copy-source": "/bucket/a" })).toBe(403);
  expect(await put("/bucket/signed", "one")).toBe(200);
});

test("a call whose time is over 15 minutes from the time here is refused, at every service", async () => {
  for (const [endpoint, service] of [
    [aws.sqsAndS3, "s3"],
    [aws.dynamo, "dynamodb"],
    [scheduler.url, "scheduler"],
  ] as const) {
    const { host } = new URL(endpoint);
    const signer = new SignatureV4({ credentials, region: "us-east-1", service, sha256: Sha256, uriEscapePath: false });
    const answer = async (minutes: number) => {
      const request = { method: "GET", protocol: "http:", hostname: "", path: "/", query: {}, headers: { host } };
      const { headers } = await signer.sign(request, { signingDate: new Date(Date.now() + minutes * 60_000) });
      return await (await fetch(endpoint, { headers })).text();
    };
    for (const minutes of [-60, -16, 16, 60]) expect(await answer(minutes), service).toContain("15 minutes");
    for (const minutes of [-14, 0, 14]) expect(await answer(minutes), service).not.toContain("15 minutes");
  }
});

test("a presigned URL opens what it was made for, until it expires, and nothing else", async () => {
  const Key = "of a/page ü+1.html";
  await s3().send(new PutObjectCommand({ Bucket: "bucket", Key, Body: "page" }));
  const command = new GetObjectCommand({ Bucket: "bucket", Key, ResponseContentDisposition: 'inline; filename="a b"' });
  const url = await getSignedUrl(s3(), command, { expiresIn: 60 });
  expect(await (await fetch(url)).text()).toBe("page");
  expect((await fetch(url.replace("page", "pagf"))).status).toBe(403);
  expect((await fetch(url.replace("Expires=60", "Expires=600"))).status).toBe(403);
  expect((await fetch(url, { method: "DELETE" })).status).toBe(403);
  const signingDate = new Date(Date.now() - 61_000);
  const old = await getSignedUrl(s3(), command, { expiresIn: 60, signingDate });
  const expired = await fetch(old);
  expect([expired.status, await expired.text()]).toEqual([403, expect.stringContaining("expired")]);
  const foreign = await getSignedUrl(s3({ ...credentials, secretAccessKey: "guessed" }), command, { expiresIn: 60 });
  expect((await fetch(foreign)).status).toBe(403);
});

test("a presigned URL of which any part was altered opens nothing", async () => {
  const command = new GetObjectCommand({ Bucket: "bucket", Key: "altered/page.html" });
  await s3().send(new PutObjectCommand({ Bucket: "bucket", Key: "altered/page.html", Body: "page" }));
  const url = await getSignedUrl(s3(), command, { expiresIn: 60 });
  expect((await fetch(url)).status).toBe(200);
  const [path = "", query = ""] = url.split("?");
  const parameters = query.split("&").map((pair) => pair.split("=") as [string, string]);
  const withParameters = (changed: readonly (readonly [string, string])[]): string =>
    `${path}?${changed.map((pair) => pair.join("=")).join("&")}`;
  const altered = parameters.flatMap(([name, value], at) => {
    const other = value.endsWith("0") ? "1" : "0";
    const values = [
      `${value.slice(0, -1)}${other}`,
      value.slice(0, -1),
      `${value}0`,
      `0${value}`,
      `${value}%3B`,
      "%C3%A9".repeat(value.length),
      "",
    ];
    const changed = values.map((each) => withParameters(parameters.with(at, [name, each])));
    const twice = withParameters([...parameters, [name, value]]);
    return [...changed, twice, withParameters(parameters.toSpliced(at, 1))];
  });
  const respelled: [string, string, string][] = [
    ["X-Amz-Expires", "60", "060"],
    ["X-Amz-SignedHeaders", "host", "host%3Bhost"],
    ["X-Amz-Credential", "%2F20", "%2F"],
  ];
  const credential = (/X-Amz-Credential=([^&]+)/.exec(query)?.[1] ?? "").split("%2F");
  const shortDay = credential.with(1, (credential[1] ?? "").slice(0, 4)).join("%2F");
  altered.push(
    withParameters(parameters.map(([name, value]) => [name, name === "X-Amz-Credential" ? shortDay : value])),
  );
  for (const [name, from, to] of respelled) {
    altered.push(
      withParameters(parameters.map(([each, value]) => [each, each === name ? value.replace(from, to) : value])),
    );
  }
  for (const more of ["a=b", "versionId=null", "response-content-type=text%2Fhtml", "X-Amz-Security-Token=a", "acl"]) {
    altered.push(`${url}&${more}`);
  }
  for (const other of ["altered/page.htm", "altered//page.html", "altered/page.html/", "altered/p%61ge.html", ""]) {
    altered.push(url.replace("altered/page.html", other));
  }
  const opened: string[] = [];
  for (const each of altered) {
    const { status } = await fetch(each);
    if (status < 400) opened.push(each.replace(url, ""));
    expect(status, each).toBeLessThan(500);
  }
  expect(opened).toEqual([]);
  for (const method of ["HEAD", "PUT", "POST", "DELETE"]) {
    expect((await fetch(url, { method })).status, method).toBe(403);
  }
});

test("a page of this machine puts a file where a link takes it, and may do nothing else by it", async () => {
  const url = await getSignedUrl(s3(), new PutObjectCommand({ Bucket: "bucket", Key: "from a page.txt" }));
  const origin = "http://127.0.0.1:8787";
  const asks = { origin, "access-control-request-method": "PUT" };
  const before = await fetch(url, { method: "OPTIONS", headers: asks });
  expect([before.status, before.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
  expect(before.headers.get("access-control-allow-headers")).toBe("x-amz-checksum-sha256");
  const put = await fetch(url, { method: "PUT", headers: { origin }, body: "page" });
  expect([put.status, put.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
  const statusOf = async (init: RequestInit, at = url) => (await fetch(at, init)).status;
  for (const method of ["GET", "DELETE", "POST"]) expect(await statusOf({ method, headers: { origin } })).toBe(403);
  expect(await statusOf({ method: "PUT", headers: { origin: "https://evil.example" }, body: "page" })).toBe(403);
  expect(await statusOf({ method: "OPTIONS", headers: { ...asks, origin: "https://evil.example" } })).toBe(403);
  const unsigned = url.replace(/\?.*/, "");
  expect(await statusOf({ method: "PUT", headers: { origin }, body: "page" }, unsigned)).toBe(403);
  expect(await statusOf({ method: "OPTIONS", headers: asks }, unsigned)).toBe(403);
  expect(await statusOf({ method: "PUT", headers: { origin }, body: "page" }, `${unsigned}?X-Amz-Signature=a`)).toBe(
    403,
  );
});

test("pages of a browser and foreign names are refused whatever they know", async () => {
  const command = new GetObjectCommand({ Bucket: "bucket", Key: "of a/page ü+1.html" });
  const url = await getSignedUrl(s3(), command);
  for (const origin of ["https://evil.example", "null", aws.sqsAndS3]) {
    expect((await fetch(url, { headers: { origin } })).status, origin).toBe(403);
    for (const endpoint of [aws.dynamo, scheduler.url, aws.sqsAndS3]) {
      const answer = await fetch(endpoint, { method: "POST", headers: { origin }, body: "{}" });
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    }
  }
  for (const endpoint of [aws.dynamo, scheduler.url, aws.sqsAndS3]) {
    for (const [host, status] of [
      ["evil.example", 403],
      ["127.0.0.1.evil.example", 403],
      ["localhost@evil.example", 400],
      ["127.0.0.1/path", 400],
      ["127.0.0.1\r\nHost: evil.example", 400],
      ["127.0.0.1\r\nOrigin: http://127.0.0.1\r\nOrigin: https://evil.example", 400],
    ] as const) {
      expect(await raw(endpoint, `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\n\r\n{}`)).toMatch(
        new RegExp(`^HTTP/1.1 ${status}`),
      );
    }
  }
});

test("of fauxqs, SQS and S3 are served and nothing else", async () => {
  const form = { body: "Action=ListTopics", headers: { "content-type": "application/x-www-form-urlencoded" } };
  expect((await signed(aws.sqsAndS3, "sqs", form)).status).toBe(404);
  for (const path of ["/_fauxqs/queues", "/%5ffauxqs/queues", "/_fauxqs/queues/asked", "/health"]) {
    expect((await signed(aws.sqsAndS3, "s3", { method: "GET", path })).text, path).not.toMatch(/approximate|"ok"/i);
  }
});

const CUT = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{";

/** Opens a connection, writes, and hears the head of the answer; nothing where it is cut. */
async function raw(endpoint: string, text: string, hangUp = false): Promise<string> {
  const socket = connect(Number(new URL(endpoint).port), "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(text);
  if (hangUp) {
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    return "";
  }
  const [answer] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return answer.toString();
}

const deep = (levels: number) => `${'{"M":{"a":'.repeat(levels)}{"S":"x"}${"}}".repeat(levels)}`;
const BODIES = [
  "null",
  "[]",
  "1",
  '"text"',
  "{",
  "",
  "[null]",
  '{"RequestItems":{"items":[null]}}',
  '{"RequestItems":{"items":null}}',
  '{"RequestItems":{"items":[{"PutRequest":null}]}}',
  '{"RequestItems":{"items":[{"PutRequest":{"Item":null}},null]}}',
  '{"RequestItems":{"items":{"Keys":[null]}}}',
  '{"TableName":null}',
  '{"TableName":"items"}',
  '{"TableName":"items","Key":null,"Item":null}',
  '{"TableName":"items","Key":{"pk":null},"Item":{"pk":null}}',
  '{"TableName":"items","Key":[null],"Item":[null]}',
  '{"TableName":"items","Item":{"pk":{"S":"deep"},"a":{"L":[null]}}}',
  `{"TableName":"items","Item":{"pk":{"S":"deep"},"a":${deep(40)}}}`,
  `{"TableName":"items","Item":{"pk":{"S":"deep"},"a":${deep(5_000)}}}`,
  `{"TableName":"items","Item":{"pk":{"S":"deep"},"a":${deep(100_000)}}}`,
  `{"TableName":"items","Key":{"pk":{"S":"a"}},"UpdateExpression":"set ${"a.".repeat(500)}b = :b"}`,
  '{"TableName":"items","Key":{"pk":{"S":"a"}},"UpdateExpression":"set a = :b","ExpressionAttributeValues":{":b":null}}',
  '{"TableName":"items","Key":{"pk":{"N":"1e999"}},"ConditionExpression":"((((((("}',
  `{"TableName":"items","FilterExpression":"${"(".repeat(20_000)}"}`,
  '{"TableName":"items","ExclusiveStartKey":{"pk":null},"Limit":-1}',
];
const OPERATIONS = [
  "GetItem",
  "PutItem",
  "UpdateItem",
  "DeleteItem",
  "BatchGetItem",
  "BatchWriteItem",
  "Query",
  "Scan",
  "DescribeTable",
  "ListTables",
  "UpdateTable",
  "TagResource",
  "Nothing",
  "constructor",
];

test("500 requests that fit no shape, signed or not, leave DynamoDB alive", { timeout: 120_000 }, async () => {
  const items = dynamo();
  const pk = [{ AttributeName: "pk", KeyType: "HASH" as const }];
  await items.send(
    new CreateTableCommand({
      TableName: "items",
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
      KeySchema: pk,
    }),
  );
  for (const operation of OPERATIONS) {
    const answers = await Promise.all(BODIES.map((body) => toDynamo(operation, body)));
    for (const { status, text } of answers) {
      expect([200, 400, 404, 413, 500], text.slice(0, 200)).toContain(status);
    }
  }
  for (let index = 0; index < 100; index += 1) await raw(aws.dynamo, CUT, true);
  const garbage = async () => (await fetch(aws.dynamo, { method: "POST", body: randomBytes(500) })).status;
  for (let index = 0; index < 50; index += 1) expect(await garbage()).toBe(403);
  const { $metadata } = await items.send(new GetItemCommand({ TableName: "items", Key: { pk: { S: "a" } } }));
  expect($metadata.httpStatusCode).toBe(200);
});

const SQS_BODIES = [
  ...["null", "[]", "1", '"text"', "{", "", "[null]", "{}", '{"QueueUrl":null}', '{"QueueUrl":[null]}'],
  ...['{"QueueUrl":"asked"}', '{"QueueUrl":"http://127.0.0.1/000000000000/none"}', '{"__proto__":{"a":1}}'],
];
const OF_QUEUE = [
  '"MessageBody":null',
  '"MessageBody":"a","DelaySeconds":1e999,"MessageAttributes":null',
  '"MessageBody":"a","MessageAttributes":{"a":null,"b":{"DataType":null}}',
  '"Entries":null',
  '"Entries":[null]',
  '"Entries":[{"Id":null,"MessageBody":null,"ReceiptHandle":null}]',
  `"Entries":${"[".repeat(5_000)}${"]".repeat(5_000)}`,
  `"Entries":${"[".repeat(100_000)}${"]".repeat(100_000)}`,
  '"ReceiptHandle":null,"VisibilityTimeout":-1',
  '"ReceiptHandle":{"a":[]},"MaxNumberOfMessages":"many","WaitTimeSeconds":-5',
  '"AttributeNames":[null],"Attributes":{"RedrivePolicy":"{","VisibilityTimeout":null}',
  '"MaxNumberOfMessages":1e9,"WaitTimeSeconds":0,"AttributeNames":"All"',
];
const SQS_OPERATIONS = [
  ...["SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessageBatch"],
  ...[
    "ChangeMessageVisibility",
    "GetQueueAttributes",
    "SetQueueAttributes",
    "GetQueueUrl",
    "CreateQueue",
    "ListQueues",
  ],
  ...["PurgeQueue", "TagQueue", "Nothing", "constructor"],
];

test("requests to SQS that fit no shape leave it alive", { timeout: 120_000 }, async () => {
  const { QueueUrl = "" } = await sqs().send(new CreateQueueCommand({ QueueName: "odd" }));
  const bodies = [...SQS_BODIES, ...OF_QUEUE.map((fields) => `{"QueueUrl":${JSON.stringify(QueueUrl)},${fields}}`)];
  for (const operation of SQS_OPERATIONS) {
    const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${operation}` };
    const answers = await Promise.all(bodies.map((body) => signed(aws.sqsAndS3, "sqs", { body, headers })));
    for (const { status, text } of answers) {
      expect([200, 400, 403, 404, 413, 500], `${operation} ${text.slice(0, 200)}`).toContain(status);
    }
  }
  await sqs().send(new CreateQueueCommand({ QueueName: "afterwards" }));
  const { QueueUrls } = await sqs().send(new ListQueuesCommand({ QueueNamePrefix: "afterwards" }));
  expect(QueueUrls).toHaveLength(1);
});

const deepXml = (levels: number) => `${"<a>".repeat(levels)}x${"</a>".repeat(levels)}`;
const S3_BODIES = [
  "",
  "null",
  "{",
  "<",
  "<Delete/>",
  "<Delete><Object/></Delete>",
  deepXml(40),
  deepXml(100_000),
  "\0".repeat(1000),
];
const S3_REQUESTS = [
  ...["PUT /odd/key", "PUT /odd", "PUT /", "PUT /odd/%00", "PUT /odd/..%2f..%2fkey", `PUT /odd/${"k".repeat(3_000)}`],
  ...[
    "POST /odd",
    "POST /odd/key",
    "DELETE /odd/none",
    "GET /odd/none",
    "GET /none",
    "HEAD /odd/none",
    "GET /constructor/__proto__",
  ],
];

test("requests to S3 that fit no shape, and whoever hangs up in mid-body, leave it alive", {
  timeout: 120_000,
}, async () => {
  await s3().send(new CreateBucketCommand({ Bucket: "odd" }));
  for (const asked of S3_REQUESTS) {
    const [method = "", path = ""] = asked.split(" ");
    const isEmpty = method === "GET" || method === "HEAD";
    const send = (body: string, headers = {}) => signed(aws.sqsAndS3, "s3", { method, path, body, headers });
    const odd = { range: "bytes=9-1", "x-amz-copy-source": "/odd/none?versionId=", "x-amz-meta-a": "b" };
    const answers = isEmpty
      ? [send(""), send("", odd)]
      : [...S3_BODIES.map((body) => send(body)), send("a", { ...odd, "content-type": "application/xml" })];
    for (const { status, text } of await Promise.all(answers)) {
      expect(status, `${asked} ${text.slice(0, 200)}`).toBeLessThanOrEqual(501);
    }
  }
  for (const begun of [CUT, CUT.replace("POST /", "PUT /odd/cut")]) {
    for (let index = 0; index < 50; index += 1) await raw(aws.sqsAndS3, begun, true);
  }
  const { host, hostname } = new URL(aws.sqsAndS3);
  const request = { method: "PUT", protocol: "http:", hostname, path: "/odd/cut", query: {}, body: "x".repeat(1_000) };
  const { headers } = await s3Signer().sign({ ...request, headers: { host, "content-length": "1000" } });
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  for (let index = 0; index < 50; index += 1) {
    await raw(aws.sqsAndS3, `PUT /odd/cut HTTP/1.1\r\n${head.join("")}\r\nxxx`, true);
  }
  await expect(s3().send(new HeadObjectCommand({ Bucket: "odd", Key: "cut" }))).rejects.toThrow();
  await s3().send(new PutObjectCommand({ Bucket: "odd", Key: "afterwards", Body: "whole" }));
  const object = await s3().send(new GetObjectCommand({ Bucket: "odd", Key: "afterwards" }));
  expect(await object.Body?.transformToString()).toBe("whole");
});
