/** API events for tests, as API Gateway builds them, and the answers read back. */
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import type { Api } from "../../functions/adapters/api.ts";

export interface TestRequest {
  method?: string;
  /** With its query string. */
  path: string;
  headers?: Record<string, string>;
  key?: string;
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

export async function callApi(api: Pick<Api, "handler">, request: TestRequest): Promise<TestAnswer> {
  const result = await api.handler(proxyEvent(request), {} as Context);
  const multi = Object.entries(result.multiValueHeaders ?? {}).map(([name, values]) => [name, values.join(", ")]);
  return {
    status: result.statusCode,
    headers: { ...(result.headers as Record<string, string>), ...Object.fromEntries(multi) },
    body: result.body === "" ? undefined : JSON.parse(result.body),
  };
}

export function proxyEvent({ method, path, headers = {}, key, json, body }: TestRequest): APIGatewayProxyEvent {
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
    requestContext: { requestId: "test-request" } as APIGatewayProxyEvent["requestContext"],
    body: text,
    isBase64Encoded: false,
  };
}
