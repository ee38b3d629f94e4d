/** API events for tests, as API Gateway builds them, and the answers read back. */
import { Writable } from "node:stream";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import type { Api } from "../../functions/adapters/api/api.ts";
import type { StreamApi } from "../../functions/adapters/api/stream-api.ts";
import { checkHead, checkRecords, operationOf } from "./documented-answers.ts";

export interface TestRequest {
  method?: string;
  /** With its query string. */
  path: string;
  headers?: Record<string, string>;
  key?: string;
  /** Address of the client. */
  sourceIp?: string;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it stands, without a content type. */
  body?: string;
}

export interface TestAnswer {
  status: number;
  headers: Record<string, string>;
  // tests look into answers of every shape
  // biome-ignore lint/suspicious/noExplicitAny: an answer is compared, never trusted
  body: any;
}

export async function callApi(
  api: Pick<Api, "handler"> | Pick<StreamApi, "handler" | "streaming">,
  request: TestRequest,
): Promise<TestAnswer> {
  const answer = "streaming" in api ? (await callStreamApi(api, request)).answer : await callPlainApi(api, request);
  checkAnswer(request, answer);
  return answer;
}

/** @throws Error where the OpenAPI document describes the route, and not such an answer */
function checkAnswer(request: TestRequest, { status, headers, body }: TestAnswer): void {
  const { httpMethod: method, path, body: sent } = proxyEvent(request);
  const operation = operationOf({ method, path });
  if (operation === undefined) return;
  const check = checkHead(operation, { method, path, body: sent ?? undefined }, { status, headers: mapOf(headers) });
  const type = headers["content-type"] ?? "";
  if (body === undefined) return;
  if (type.startsWith("application/json")) check(body);
  else checkRecords(type, body, check);
}

const mapOf = (headers: Record<string, string>): Map<string, string> =>
  new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const isText = (type: string): boolean => /^text\/(html|css|javascript)\b/.test(type);

async function callPlainApi(api: Pick<Api, "handler">, request: TestRequest): Promise<TestAnswer> {
  const result = await api.handler(proxyEvent(request), {} as Context);
  const multi = Object.entries(result.multiValueHeaders ?? {}).map(([name, values]) => [name, values.join(", ")]);
  const type = String(result.headers?.["content-type"] ?? "");
  return {
    status: result.statusCode,
    headers: { ...(result.headers as Record<string, string>), ...Object.fromEntries(multi) },
    body: isText(type) ? result.body : result.body === "" ? undefined : JSON.parse(result.body),
  };
}

/** Reads the answer to its end. */
export async function callStreamApi(
  api: Pick<StreamApi, "handler">,
  request: TestRequest,
): Promise<{ answer: TestAnswer; bytes: Buffer }> {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      pieces.push(chunk);
      done();
    },
  });
  const context = { getRemainingTimeInMillis: () => 900_000 } as Context;
  await api.handler(proxyEvent(request), stream as never, context);
  const { statusCode, headers } = heads.get(stream) as StreamHead;
  const bytes = Buffer.concat(pieces);
  const { "content-encoding": coding } = headers;
  const text = (
    coding === "gzip" ? gunzipSync(bytes) : coding === "br" ? brotliDecompressSync(bytes) : bytes
  ).toString();
  const isJson = headers["content-type"] === "application/json";
  const body = text === "" ? undefined : isJson ? JSON.parse(text) : text;
  return { answer: { status: statusCode, headers, body }, bytes };
}

interface StreamHead {
  statusCode: number;
  headers: Record<string, string>;
}
const heads = new WeakMap<Writable, StreamHead>();
/** What the Lambda runtime has beside streams. */
const HttpResponseStream = {
  from(stream: Writable, head: StreamHead): Writable {
    heads.set(stream, head);
    return stream;
  },
};
Object.assign(globalThis, { awslambda: { HttpResponseStream, streamifyResponse: <T>(handler: T) => handler } });

export function proxyEvent({
  method,
  path,
  headers = {},
  key,
  json,
  body,
  sourceIp = "127.0.0.1",
}: TestRequest): APIGatewayProxyEvent {
  const url = new URL(path, "https://api.test");
  const text = json === undefined ? (body ?? null) : JSON.stringify(json);
  const single = {
    Host: "api.test",
    ...(json === undefined ? {} : { "Content-Type": "application/json" }),
    ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    ...headers,
  };
  const query = [...new Set(url.searchParams.keys())];
  return {
    httpMethod: method ?? (text === null ? "GET" : "POST"),
    path: url.pathname,
    resource: url.pathname,
    headers: single,
    multiValueHeaders: Object.fromEntries(Object.entries(single).map(([name, value]) => [name, [value]])),
    queryStringParameters: query.length === 0 ? null : Object.fromEntries(url.searchParams),
    multiValueQueryStringParameters:
      query.length === 0 ? null : Object.fromEntries(query.map((name) => [name, url.searchParams.getAll(name)])),
    pathParameters: null,
    stageVariables: null,
    requestContext: { requestId: "test-request", identity: { sourceIp } } as APIGatewayProxyEvent["requestContext"],
    body: text,
    isBase64Encoded: false,
  };
}
