/**
 * API Gateway on one port of loopback: requests become proxy events, answers become responses, streams stay streams.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import {
  acceptedCoding,
  type Coding,
  compressed,
  isCompressible,
  SHORTEST_COMPRESSED_BYTES,
} from "../../functions/adapters/api/answer-coding.ts";
import { errorResponse, errorShapeOf } from "../../functions/adapters/api/errors.ts";
import { presentsKey } from "../../functions/adapters/api/presented-key.ts";
import type { Topology } from "../../infra/topology/spec.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { BodyTooLarge, readBody } from "../front/body.ts";
import { type Refusal, refusalOf } from "../front/callers.ts";
import { KEPT_CONNECTIONS } from "../front/idle-connections.ts";
import { InvocationError, type StreamSink } from "../lambda/invocation.ts";
import { type BodyBudget, createBodyBudget } from "./body-budget.ts";
import { MAX_PAYLOAD_BYTES, proxyEvent, readProxyAnswer } from "./http-event.ts";
import { compileRoutes, type MatchedRoute } from "./http-routes.ts";

export interface HttpGatewayOptions {
  topology: Topology;
  /** 0: any free one. */
  port: number;
  invoke(functionName: string, event: unknown, sink: StreamSink, patienceMs?: number): Promise<unknown>;
  /**
   * Paths of the runtime's own, tried first.
   * @returns whether it answered
   */
  own(request: IncomingMessage, response: ServerResponse, url: URL): Promise<boolean> | boolean;
  onRequest(): void;
  onFault(error: unknown): void;
}

export interface HttpGateway {
  server: Server;
  port: number;
  readonly isOpen: boolean;
  /** Until then every request is answered 503. */
  open(): void;
  /** Takes no more requests; those under way may still be answered. */
  close(): void;
  /** Cuts what is left. */
  destroy(): void;
}

/** @throws the listen error, e.g. EADDRINUSE */
export async function startHttpGateway(options: HttpGatewayOptions): Promise<HttpGateway> {
  const match = compileRoutes(options.topology);
  const bodies = createBodyBudget(BODIES_BYTES, BODY_PATIENCE_MS);
  let isOpen = false;
  const server = createServer(KEPT_CONNECTIONS, (request, response) => {
    const requestId = randomUUID();
    response.on("error", () => {});
    const fault = refusalOf(request, true) ?? malformation(request);
    if (fault !== undefined) return refuse(response, requestId, fault.status, CODES[fault.status], fault.message);
    if (!isOpen) return refuse(response, requestId, 503, "SERVICE_UNAVAILABLE", "Starting or stopping: try again");
    serve(options, match, bodies, { request, response, requestId }).catch((error: unknown) => {
      options.onFault(error);
      refuse(response, requestId, 500, "INTERNAL_ERROR", "The local runtime failed on this request: see its log");
    });
  });
  server.listen(options.port, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    port: (server.address() as AddressInfo).port,
    get isOpen() {
      return isOpen;
    },
    open() {
      isOpen = true;
    },
    close() {
      isOpen = false;
      server.close();
      server.closeIdleConnections();
    },
    destroy: () => server.closeAllConnections(),
  };
}

const CODES = { 400: "BAD_REQUEST", 403: "FORBIDDEN" } as const;

/** What API Gateway, too, passes on to no function. */
function malformation({ url = "/", rawHeaders }: IncomingMessage): Refusal | undefined {
  try {
    decodeURIComponent(url.replace(/[?#].*$/s, ""));
  } catch {
    return { status: 400, message: "The path is not percent-encoded UTF-8" };
  }
  // the name that no object of headers can hold
  if (rawHeaders.some((text, index) => index % 2 === 0 && text.toLowerCase() === "__proto__")) {
    return { status: 400, message: "No header may be named __proto__" };
  }
  return undefined;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
}

async function serve(
  options: HttpGatewayOptions,
  match: ReturnType<typeof compileRoutes>,
  bodies: BodyBudget,
  { request, response, requestId }: Exchange,
): Promise<void> {
  const time = Date.now();
  const url = URL.parse(request.url ?? "/", "http://127.0.0.1");
  if (url === null) return refuse(response, requestId, 400, "BAD_REQUEST", "The request target is not a valid URL");
  if (await options.own(request, response, url)) return;
  options.onRequest();
  const route = match(request.method ?? "GET", url.pathname);
  if (route === undefined) return refuse(response, requestId, 404, "NOT_FOUND", "There is no such route");
  if ("allow" in route) {
    response.setHeader("allow", route.allow.join(", "));
    return refuse(response, requestId, 405, "METHOD_NOT_ALLOWED", `This path takes ${route.allow.join(" and ")} only`);
  }
  const sink = streamTo(response, (error) => {
    options.onFault(error);
    refuse(response, requestId, 502, "BAD_GATEWAY", "The function gave an invalid header");
  });
  const length = lengthOf(request);
  if (length > SMALL_BODY_BYTES && length <= MAX_PAYLOAD_BYTES && !hasKey(request)) {
    response.setHeader("www-authenticate", "Bearer");
    return refuse(response, requestId, 401, "AUTH_REQUIRED", KEY_REQUIRED);
  }
  const release =
    length > SMALL_BODY_BYTES ? await bodies.take(Math.min(length, MAX_PAYLOAD_BYTES), sink.closed) : none;
  if (release === undefined) {
    return refuseBusy(response, requestId);
  }
  try {
    const body = await readBody(request, MAX_PAYLOAD_BYTES, BODY_MS);
    const event = proxyEvent({ request, url, body, requestId, time }, route);
    if ((event.body?.length ?? 0) > MAX_PAYLOAD_BYTES) throw new BodyTooLarge();
    response.setHeader("x-amzn-requestid", requestId);
    const head: StreamSink["head"] = (begun) => {
      // a stream may last for minutes, and no longer needs what was asked
      release();
      sink.head(begun);
    };
    await answerWith(options, route, event, { request, response, requestId, sink: { ...sink, head } });
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) return void response.destroy();
    refuse(response, requestId, 413, "PAYLOAD_TOO_LARGE", TOO_LARGE);
  } finally {
    release();
  }
}

async function answerWith(
  options: HttpGatewayOptions,
  { spec, isThrottled }: MatchedRoute,
  event: unknown,
  { response, requestId, sink }: Exchange & { sink: StreamSink },
): Promise<void> {
  try {
    const answer = await options.invoke(spec.name, event, sink, PATIENCE_MS);
    if (response.headersSent || answer === undefined) return void response.end();
    await sendAnswer(response, requestId, answer, options);
  } catch (error) {
    const isTooMany = isThrottled && error instanceof InvocationError && error.fault === "busy";
    if (isTooMany && !response.headersSent) refuseTooMany(response, requestId);
    else sendFault(response, requestId, error, options);
  }
}

/** Of the body, in bytes, as the request tells; the most there can be where it does not. */
function lengthOf({ headers }: IncomingMessage): number {
  if (headers["transfer-encoding"] !== undefined) return MAX_PAYLOAD_BYTES;
  return Number(headers["content-length"] ?? 0);
}

/**
 * Whether what can be a key is presented, since not any word takes room for a large body; whether it is one, the
 * function tells. Without one no route takes large bodies.
 */
const hasKey = ({ headers }: IncomingMessage): boolean => presentsKey((name) => [headers[name]].flat()[0]);

const none = (): void => {};

/**
 * The rest of a body that is refused is still coming: it is read on for as long as it does, and the answer ends only
 * then. With `Connection: close` Node ends the connection with the answer, and the client would see a reset instead.
 */
function endOnceRead(response: ServerResponse): void {
  const { req: request } = response;
  if (request.readableEnded || request.destroyed) return void response.end();
  let came = false;
  const look = (): void => {
    if (request.complete) return;
    if (!came) return void request.socket.destroy();
    came = false;
    late.refresh();
  };
  // what came while this process was held up itself is read before that
  const late = setTimeout(() => setImmediate(look), LATE_BODY_MS).unref();
  request.on("data", () => {
    came = true;
  });
  request.once("close", () => {
    clearTimeout(late);
    response.end();
  });
  request.resume();
}

/** Without another byte. */
const LATE_BODY_MS = 2_000;
/**
 * For the function: those before it may stream for minutes. API Gateway does not wait at all once a function's
 * concurrency is used up.
 */
const PATIENCE_MS = 5_000;
/** Larger ones are under way only as far as there is room; what is smaller is held by the number of connections. */
const SMALL_BODY_BYTES = 64 * 1024;
/** A body is in memory some four times: as it came, as text, in the function's thread, and parsed. */
const BODIES_BYTES = 24 * 1024 * 1024;
const BODY_PATIENCE_MS = 10_000;
/** For a body to arrive. */
const BODY_MS = 60_000;
const KEY_REQUIRED = "A valid API key is required: send it as `Authorization: Bearer KEY` or `X-API-Key: KEY`";
const TOO_LARGE = "The request is larger than 6 MB: send less at once";

/**
 * Where a function's stream goes.
 * @param onInvalid is given why its head is none of HTTP: the stream is passed over then, and this answers
 */
export function streamTo(response: ServerResponse, onInvalid: (error: unknown) => void): StreamSink {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return {
    closed: gone.signal,
    head({ statusCode, headers, cookies }) {
      if (response.headersSent || gone.signal.aborted) return;
      try {
        response.writeHead(statusCode, { ...headers, ...(cookies.length > 0 ? { "set-cookie": cookies } : {}) });
      } catch (error) {
        gone.abort();
        for (const name of response.getHeaderNames()) response.removeHeader(name);
        return onInvalid(error);
      }
      response.flushHeaders();
    },
    async write(bytes) {
      if (gone.signal.aborted || response.write(bytes)) return;
      const settled = new AbortController();
      const { signal } = settled;
      await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
      settled.abort();
    },
  };
}

async function sendAnswer(
  response: ServerResponse,
  requestId: string,
  value: unknown,
  options: HttpGatewayOptions,
): Promise<void> {
  const answer = readProxyAnswer(value);
  if (answer === undefined || answer.body.length > MAX_PAYLOAD_BYTES) {
    const what = answer === undefined ? "is not a proxy answer" : "is larger than the 6 MB that Lambda allows";
    options.onFault(new Error(`The answer of a handler ${what} (request ${requestId})`));
    refuse(response, requestId, 502, "BAD_GATEWAY", "The function gave no valid answer");
    return;
  }
  response.statusCode = answer.status;
  try {
    for (const [name, values] of answer.headers)
      response.setHeader(name, values.length === 1 ? (values[0] ?? "") : values);
  } catch (error) {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    options.onFault(error);
    refuse(response, requestId, 502, "BAD_GATEWAY", "The function gave an invalid header");
    return;
  }
  const coding = codingOf(response, answer.body);
  if (coding === undefined) return void response.end(answer.body);
  response.setHeader("content-encoding", coding);
  response.removeHeader("content-length");
  response.end(await buffer(compressed(asIterable(answer.body), coding)));
}

/** As API Gateway compresses what a function answers whole; and br besides. */
function codingOf(response: ServerResponse, body: Buffer): Coding | undefined {
  if (body.length < SHORTEST_COMPRESSED_BYTES || response.hasHeader("content-encoding")) return undefined;
  if (!isCompressible(String(response.getHeader("content-type")))) return undefined;
  return acceptedCoding(response.req.headers["accept-encoding"]?.toString());
}

async function* asIterable(body: Buffer): AsyncGenerator<Uint8Array> {
  yield body;
}

function sendFault(response: ServerResponse, requestId: string, error: unknown, options: HttpGatewayOptions): void {
  options.onFault(error);
  // a stream that has begun can only be cut: the client must see that it is not whole
  if (response.headersSent) return void response.destroy();
  const fault = error instanceof InvocationError ? error.fault : "error";
  if (fault === "timeout") refuse(response, requestId, 504, "GATEWAY_TIMEOUT", "The function took too long");
  else if (fault === "busy") refuseBusy(response, requestId);
  else if (fault === "stopped") refuse(response, requestId, 503, "SERVICE_UNAVAILABLE", "Stopping: try again");
  else refuse(response, requestId, 502, "BAD_GATEWAY", "The function failed: the log has its request id and details");
}

function refuseBusy(response: ServerResponse, requestId: string): void {
  response.setHeader("retry-after", "5");
  const message = "As many requests of this kind are under way as are answered at once: try again later";
  refuse(response, requestId, 503, "SERVICE_UNAVAILABLE", message);
}

function refuseTooMany(response: ServerResponse, requestId: string): void {
  response.setHeader("retry-after", "5");
  refuse(response, requestId, 429, "RATE_LIMITED", "Too many requests: try again later");
}

/** In the error shape of the family that was asked. */
function refuse(response: ServerResponse, requestId: string, status: number, code: string, message: string): void {
  if (response.headersSent) return void response.end();
  const path = URL.parse(response.req.url ?? "/", "http://127.0.0.1")?.pathname ?? "/";
  const body = errorResponse(new ApiError(status, message, { code }), requestId, errorShapeOf(path));
  response.setHeader("x-amzn-requestid", requestId);
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.write(text);
  endOnceRead(response);
}
