/**
 * The one way to serve routes. A request is authenticated, counted against its key's limit and validated, in this
 * order, before a route sees it; what the route throws becomes an error response.
 *
 * @example
 * export const api = createApi("things-api", [readThing], dependencies);
 * export const handler = api.handler;
 */
import { createRoute, OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import type { APIGatewayProxyEvent } from "aws-lambda";
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type Caller, type Gate, rateLimitHeaders } from "../../../shared/access/authorize.ts";
import type { RememberedAnswer } from "../../../shared/access/idempotency.ts";
import { isFaultOfTheSite } from "../../../shared/crawl/http/answer-fault.ts";
import { ApiError } from "../../../shared/platform/errors.ts";
import { uuidv7 } from "../../../shared/platform/ids.ts";
import { createLogger, type Logger } from "../../../shared/platform/observability/log.ts";
import { once } from "../../../shared/platform/once.ts";
import {
  admitNoBody,
  holdsTooManyValues,
  MAX_BODY_BYTES,
  MAX_BODY_VALUES,
  mayHaveNoBody,
  namesProto,
  refuseLargeBody,
  unstorablePaths,
} from "./body.ts";
import {
  type ErrorShape,
  errorResponse,
  errorShapeOf,
  errorStatus,
  protoError,
  toApiError,
  tooManyValuesError,
  unstorableTextError,
  validationError,
} from "./errors.ts";
import {
  IDEMPOTENCY_HEADER,
  IDEMPOTENCY_PARAMETER,
  idempotently,
  REPLAYED_HEADER,
  requestHash,
} from "./idempotency.ts";
import { createLambdaHandler, type LambdaHandler } from "./lambda.ts";
import { observed } from "./observed-stream.ts";
import { presentedKey } from "./presented-key.ts";
import { type ApiDependencies, ApiResponse, type DefinedRoute, type HttpMethod, type Schema } from "./route.ts";
import { StreamedResponse, type StreamRequest } from "./stream-route.ts";

export interface Api {
  name: string;
  routes: readonly {
    method: HttpMethod;
    path: string;
    scope: DefinedRoute<never>["spec"]["scope"];
    body?: Schema;
    limited?: true;
    errors?: DefinedRoute<never>["spec"]["errors"];
  }[];
  handler: LambdaHandler;
  /** OpenAPI 3.1. */
  openApi(): OpenApiDocument;
}

export type OpenApiDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

export interface ApiOptions {
  /** `crawl` where not given. */
  errors?: ErrorShape;
  /** Around every request, e.g. what its answers say to caches. */
  around?: MiddlewareHandler;
  /** What that adds to the head of answers and errors: by name, what it says. */
  headers?: Readonly<Record<string, string>>;
}

interface ApiEnv {
  Bindings: { event?: APIGatewayProxyEvent } & Partial<
    Pick<StreamRequest<unknown, unknown, unknown, null>, "signal" | "remainingMs">
  >;
  Variables: { requestId: string; log: Logger; caller: Caller | null; errorCode: string | undefined };
}

/** @param dependencies called for every request; builds what the container keeps at the first call */
export function createApi<Dependencies extends ApiDependencies>(
  name: string,
  routes: readonly DefinedRoute<Dependencies>[],
  dependencies: () => Dependencies | Promise<Dependencies>,
  options: ApiOptions = {},
): Api {
  const app = once(() => buildApp(name, routes, dependencies, options));
  return {
    name,
    routes: routes.map(({ spec }) => spec),
    handler: createLambdaHandler({ name, app, errors: options.errors }),
    openApi: () => openApiOf(app()),
  };
}

export function openApiOf(app: OpenAPIHono<ApiEnv>): OpenApiDocument {
  return app.getOpenAPI31Document({ openapi: "3.1.0", info: { title: "Strandline", version: "1" } });
}

/** The routes with all that goes before and after them, however events come in. */
export function buildApp<Dependencies extends ApiDependencies>(
  name: string,
  routes: readonly DefinedRoute<Dependencies>[],
  dependencies: () => Dependencies | Promise<Dependencies>,
  options: ApiOptions,
): OpenAPIHono<ApiEnv> {
  const { errors: shape = "crawl", around } = options;
  const app = new OpenAPIHono<ApiEnv>({
    defaultHook: (result) => {
      if (!result.success) throw validationError(result.error, result.target);
    },
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "api_key", { type: "http", scheme: "bearer" });
  for (const [header, described] of Object.entries(ANSWER_HEADERS)) {
    app.openAPIRegistry.registerComponent("headers", header, described);
  }

  app.use(async (c, next) => {
    const started = performance.now();
    const requestId = c.env?.event?.requestContext?.requestId ?? uuidv7();
    c.set("requestId", requestId);
    c.set("caller", null);
    c.set("log", createLogger({ function: name, request_id: requestId }));
    c.header("x-request-id", requestId);
    c.set("log", (await dependencies()).log.with({ request_id: requestId }));
    await next();
    c.get("log").info("request", {
      method: c.req.method,
      route: c.env?.event?.resource,
      status: c.res.status,
      duration_ms: Math.round(performance.now() - started),
      key_id: c.get("caller")?.keyId,
      code: c.get("errorCode"),
    });
  });
  if (around) app.use(around);
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: refuseLargeBody }));
  app.onError((error, c) => {
    const failure = toApiError(error);
    const { code, headers } = failure;
    const status = errorStatus(failure, shape);
    if (status >= 500) c.get("log")[isFaultOfTheSite(code) ? "warn" : "error"]("request failed", { code, error });
    c.set("errorCode", code);
    return c.json(errorResponse(failure, c.get("requestId"), shape), status as 500, headers);
  });
  app.notFound((c) => {
    const failure = new ApiError(404, "There is no such route", { code: "NOT_FOUND" });
    return c.json(errorResponse(failure, c.get("requestId"), errorShapeOf(c.req.path)), 404);
  });
  for (const route of routes) addRoute(app, route, dependencies, options);
  return app;
}

function addRoute<Dependencies extends ApiDependencies>(
  app: OpenAPIHono<ApiEnv>,
  { spec, run }: DefinedRoute<Dependencies>,
  dependencies: () => Dependencies | Promise<Dependencies>,
  options: ApiOptions,
): void {
  const { scope, open, status = 200 } = spec;
  const bodyless = mayHaveNoBody(spec);
  const config = createRoute({
    method: spec.method.toLowerCase() as Lowercase<HttpMethod>,
    path: spec.path,
    summary: spec.summary,
    ...(spec.idempotent && { parameters: [IDEMPOTENCY_PARAMETER] }),
    ...(scope === "public" ? {} : { security: [{ api_key: [] }, ...(open ? [{}] : [])] }),
    middleware: async (c: Context<ApiEnv>, next: () => Promise<void>) => {
      const address = c.env?.event?.requestContext?.identity?.sourceIp ?? "";
      if (scope !== "public" && open?.()) {
        const { readers } = await dependencies();
        await readers?.admit(address);
      } else if (scope !== "public") {
        const { gate } = await dependencies();
        const { caller, rate } = await gate.admit(
          presentedKey((name) => c.req.header(name)),
          scope,
          { limited: spec.limited, address },
        );
        c.set("caller", caller);
        for (const [header, value] of Object.entries(rateLimitHeaders(rate))) c.header(header, value);
      }
      if (spec.body) {
        const text = await c.req.text();
        if (holdsTooManyValues(text)) throw tooManyValuesError(MAX_BODY_VALUES);
        if (namesProto(text)) throw protoError();
      }
      if (bodyless) await admitNoBody(c.req);
      await next();
    },
    request: {
      ...(spec.params && { params: objectSchema(spec.params) }),
      // without a schema of its own a route takes no query parameters
      query: objectSchema(spec.query ?? z.strictObject({})),
      ...(spec.body && { body: { required: !bodyless, content: { "application/json": { schema: spec.body } } } }),
    },
    responses: responsesOf(spec, options),
  });
  app.openapi(config, async (c) => {
    const { req } = c as unknown as { req: { valid(part: string): unknown } };
    // what validates a body leaves one without a type alone
    const untyped = bodyless && c.req.header("content-type") === undefined;
    const body = untyped ? spec.body?.parse({}) : spec.body && req.valid("json");
    const query = spec.query && req.valid("query");
    for (const [where, value] of [["body", body] as const, ["query", query] as const]) {
      const unstorable = unstorablePaths(value);
      if (unstorable.length > 0) throw unstorableTextError(unstorable, where);
    }
    const { signal: gone = NEVER, remainingMs = () => Number.POSITIVE_INFINITY } = c.env ?? {};
    const revoked = new AbortController();
    const signal = AbortSignal.any([gone, revoked.signal]);
    const request: StreamRequest<unknown, unknown, unknown, Caller | null> = {
      params: spec.params && req.valid("param"),
      query,
      body,
      caller: c.get("caller"),
      requestId: c.get("requestId"),
      log: c.get("log"),
      header: (name) => c.req.header(name),
      event: c.env?.event,
      signal,
      remainingMs,
      reservedId: () => undefined,
    };
    const built = await dependencies();
    const presented = spec.idempotent && c.req.header(IDEMPOTENCY_HEADER);
    let response: unknown;
    if (presented === undefined || request.caller === null) response = await run(request, built);
    else {
      const sent = spec.body && (JSON.parse((await c.req.text()) || "{}") as unknown);
      const once = await idempotently(
        built.idempotencyKeys,
        { apiKeyId: request.caller.keyId, presented, hash: requestHash(c.req.raw, sent) },
        (turn) => run({ ...request, reservedId: (part) => turn.idOf(part) }, built),
        (answer) => keptOf(answer, status),
      );
      if ("remembered" in once || once.resumed) c.header(REPLAYED_HEADER, "true");
      if ("remembered" in once) {
        const { status, headers, body } = once.remembered;
        return c.body(body, status as 200, { ...headers, "content-type": "application/json" });
      }
      response = once.answer;
    }
    if (response instanceof ApiResponse) {
      const { status, body, headers } = response;
      return status === 204 || status === 304 || (status === 202 && body === null)
        ? c.body(null, status, headers)
        : c.json(body, status, headers);
    }
    if (response instanceof StreamedResponse) {
      const { gate } = await dependencies();
      const { caller } = request;
      const chunks = caller === null ? response.chunks : whileAdmitted(response.chunks, gate, caller.keyId, revoked);
      const body = ReadableStream.from(
        observed(chunks, { ...request, signal: gone }),
      ) as unknown as globalThis.ReadableStream;
      return c.body(body, response.status, { ...response.headers, "content-type": response.contentType });
    }
    return status === 204 ? c.body(null, 204) : c.json(response, status);
  });
}

/** An answer as the next one to the same request will be; of a stream and of an error none. */
function keptOf(answer: unknown, status: number): RememberedAnswer | undefined {
  if (answer instanceof StreamedResponse) return undefined;
  if (!(answer instanceof ApiResponse)) return { status, headers: {}, body: JSON.stringify(answer) };
  const { status: own, headers, body } = answer;
  return own >= 200 && own < 300 ? { status: own, headers, body: JSON.stringify(body) } : undefined;
}

/** A key that was revoked listens no longer than this, and what its check takes. */
const KEY_CHECK_MS = 2_500;

/**
 * The chunks, for as long as the key of whoever listens is one. Then the stream is cut.
 * @param revoked aborted where it is none any more: the chunks end by the signal of their request
 */
async function* whileAdmitted(
  chunks: StreamedResponse["chunks"],
  gate: Pick<Gate, "stillAdmits">,
  keyId: string,
  revoked: AbortController,
): StreamedResponse["chunks"] {
  const check = async (): Promise<void> => {
    if (!(await gate.stillAdmits(keyId))) revoked.abort(new Error("The API key is none any more"));
  };
  // while the database does not answer, the stream goes on as it may
  const timer = setInterval(() => void check().catch(() => undefined), KEY_CHECK_MS);
  try {
    for await (const chunk of chunks) {
      revoked.signal.throwIfAborted();
      yield chunk;
    }
    revoked.signal.throwIfAborted();
  } finally {
    clearInterval(timer);
  }
}

const NEVER = new AbortController().signal;

function responsesOf(
  { scope, open, status = 200, summary, response, accepted, ...spec }: DefinedRoute<never>["spec"],
  { errors: shape = "crawl", headers: ofAll = {} }: ApiOptions,
): RouteConfig["responses"] {
  const { otherwise = {}, headers: own = {}, streams = {} } = spec;
  const json = (schema: z.ZodType) => ({ "application/json": { schema } });
  const records = Object.entries(streams).map(([type, schema]) => [type, { schema }] as const);
  const content = { ...(response instanceof z.ZodNever ? {} : json(response)), ...Object.fromEntries(records) };
  const isStream = records.some(([type]) => STREAM_TYPES.includes(type));
  const more = described({
    ...ofAll,
    ...own,
    ...(isStream ? OF_STREAMS : {}),
    ...(spec.idempotent && {
      [REPLAYED_HEADER]: "That the request was sent before with this Idempotency-Key: nothing is made twice",
    }),
  });
  const limits = scope === "public" ? {} : open ? headersOf(OF_LIMITS) : headersOf(OF_LIMITS, { required: true });
  const headers = { ...headersOf(OF_EVERY_ANSWER, { required: true }), ...limits, ...more };
  const ofErrors = scope === "public" ? OF_EVERY_ERROR : [...OF_EVERY_ERROR, ...OF_LIMITS, ...OF_KEYS];
  const others = Object.entries(otherwise).map(([code, description]) => {
    const isBare = ["202", "204", "304"].includes(code);
    return [code, { description, headers, ...(isBare ? {} : { content }) }] as const;
  });
  return {
    [status]: { description: summary, headers, ...(status === 204 ? {} : { content }) },
    ...(accepted && { 202: { description: "Taken", headers, content: json(accepted) } }),
    ...Object.fromEntries(others),
    default: {
      description: "An error",
      headers: { ...headersOf(ofErrors), ...more },
      content: json(ERROR_SCHEMAS[shape]),
    },
  };
}

const STREAM_TYPES = ["application/x-ndjson", "text/event-stream"];

/** What answers bear. */
const ANSWER_HEADERS = {
  "x-request-id": { schema: { type: "string" }, description: "Names the request in the logs" },
  "x-ratelimit-limit": { schema: { type: "integer" }, description: "Requests of the key a minute" },
  "x-ratelimit-remaining": { schema: { type: "integer" }, description: "Requests that are left of them" },
  "x-ratelimit-reset": { schema: { type: "integer" }, description: "Unix time in s at which they are all there again" },
  "retry-after": { schema: { type: "integer" }, description: "Seconds until another try is worth while" },
  "www-authenticate": { schema: { type: "string" }, description: "How to present a key, with status 401" },
} as const;
type HeaderName = keyof typeof ANSWER_HEADERS;

const OF_EVERY_ANSWER = ["x-request-id"] as const;
/** Where a key was taken. */
const OF_LIMITS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] as const;
const OF_EVERY_ERROR = [...OF_EVERY_ANSWER, "retry-after"] as const;
const OF_KEYS = ["www-authenticate"] as const;

const OF_STREAMS = {
  "cache-control": "That no stream is kept",
  "x-accel-buffering": "That a stream is passed on as it comes",
};

const headersOf = (names: readonly HeaderName[], more?: { required: true }) =>
  Object.fromEntries(
    names.map((name) => [name, more ? { ...ANSWER_HEADERS[name], ...more } : { $ref: `#/components/headers/${name}` }]),
  );

const described = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { schema: { type: "string" as const }, description }]),
  );

const errorContext = { details: z.record(z.string(), z.unknown()).optional(), request_id: z.string() };
const ERROR_SCHEMAS = {
  crawl: z.object({ error: z.string(), code: z.string(), ...errorContext }).openapi("ErrorResponse"),
  archive: z
    .object({ error: z.string(), code: z.string(), detail: z.string(), ...errorContext })
    .openapi("ArchiveErrorResponse"),
  spider: z
    .object({ error: z.string(), error_code: z.string(), message: z.string(), ...errorContext })
    .openapi("SpiderErrorResponse"),
  harvest: z.object({ error: z.string(), details: z.string() }).openapi("HarvestErrorResponse"),
};

/** Path and query parameters come as objects. */
function objectSchema(schema: z.ZodType): z.ZodObject {
  if (!(schema instanceof z.ZodObject)) throw new TypeError("Path and query schemas are objects");
  return schema;
}
