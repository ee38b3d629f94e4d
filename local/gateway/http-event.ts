/** Requests as API Gateway REST proxy events (version 1), and the answers to them. */
import type { IncomingMessage } from "node:http";
import type { MatchedRoute } from "./http-routes.ts";

/** Of a whole Lambda event, and of its answer. */
export const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

export interface ProxyRequest {
  request: IncomingMessage;
  url: URL;
  body: Buffer;
  requestId: string;
  /** When it arrived, Unix time in ms. */
  time: number;
}

/** The event without its route. */
export function proxyEvent({ request, url, body, requestId, time }: ProxyRequest, route: MatchedRoute) {
  const isBase64Encoded = body.length > 0 && !isText(request, body);
  const query = [...new Set(url.searchParams.keys())].map((name) => [name, url.searchParams.getAll(name)] as const);
  return {
    resource: route.resource,
    path: url.pathname,
    httpMethod: request.method ?? "GET",
    ...headersOf(request),
    queryStringParameters:
      query.length === 0 ? null : Object.fromEntries(query.map(([name, values]) => [name, values.at(-1) ?? ""])),
    multiValueQueryStringParameters: query.length === 0 ? null : Object.fromEntries(query),
    pathParameters: route.pathParameters,
    stageVariables: null,
    requestContext: {
      ...requestContext(request, requestId, time),
      resourceId: "local",
      resourcePath: route.resource,
      httpMethod: request.method ?? "GET",
      path: url.pathname,
      protocol: `HTTP/${request.httpVersion}`,
      authorizer: null,
    },
    body: body.length === 0 ? null : body.toString(isBase64Encoded ? "base64" : "utf8"),
    isBase64Encoded,
  };
}

/** What REST and WebSocket events have in common. */
export function requestContext(request: IncomingMessage, requestId: string, time: number) {
  return {
    accountId: "000000000000",
    apiId: "local",
    stage: "local",
    domainName: request.headers.host ?? "127.0.0.1",
    requestId,
    extendedRequestId: requestId,
    requestTime: new Date(time).toUTCString(),
    requestTimeEpoch: time,
    identity: {
      sourceIp: request.socket.remoteAddress ?? "127.0.0.1",
      userAgent: request.headers["user-agent"] ?? null,
    },
  };
}

/** Names as the client wrote them; the last value of each, and all of them. */
export function headersOf(request: IncomingMessage) {
  // a Map, since names such as `constructor` are those of every object
  const values = new Map<string, string[]>();
  for (let index = 0; index + 1 < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index] ?? "";
    values.set(name, [...(values.get(name) ?? []), request.rawHeaders[index + 1] ?? ""]);
  }
  const headers = Object.fromEntries([...values].map(([name, all]) => [name, all.at(-1) ?? ""]));
  return { headers, multiValueHeaders: Object.fromEntries(values) };
}

const TEXT_TYPE = /^(text\/|application\/(.+\+)?(json|xml|x-www-form-urlencoded|x-ndjson|javascript))/i;

function isText(request: IncomingMessage, body: Buffer): boolean {
  const type = request.headers["content-type"];
  const encoded = request.headers["content-encoding"];
  if (encoded !== undefined && encoded !== "identity") return false;
  if (type !== undefined && !TEXT_TYPE.test(type)) return false;
  return body.length === 0 || Buffer.from(body.toString("utf8"), "utf8").equals(body);
}

export interface ProxyAnswer {
  status: number;
  headers: [string, string[]][];
  body: Buffer;
}

/** A handler's answer as HTTP; undefined where it is not one that API Gateway would pass on. */
export function readProxyAnswer(value: unknown): ProxyAnswer | undefined {
  if (!isRecord(value)) return undefined;
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = value;
  if (typeof statusCode !== "number" || !Number.isInteger(statusCode) || statusCode < 100 || statusCode > 599) {
    return undefined;
  }
  if (body !== undefined && body !== null && typeof body !== "string") return undefined;
  if (!(isAbsent(headers) || isRecord(headers)) || !(isAbsent(multiValueHeaders) || isRecord(multiValueHeaders))) {
    return undefined;
  }
  const merged = new Map<string, string[]>();
  for (const [name, one] of Object.entries(headers ?? {})) merged.set(name.toLowerCase(), [String(one)]);
  for (const [name, many] of Object.entries(multiValueHeaders ?? {})) {
    if (!Array.isArray(many)) return undefined;
    merged.set(name.toLowerCase(), many.map(String));
  }
  return {
    status: statusCode,
    headers: [...merged],
    body: Buffer.from(body ?? "", isBase64Encoded === true ? "base64" : "utf8"),
  };
}

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
