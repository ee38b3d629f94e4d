/**
 * The one way to define a route. A route says its method, path, scope and schemas, and gets a request that was
 * authenticated, counted against its key's limit and validated, in this order; what it throws becomes an error answer.
 *
 * @example
 * const readThing = defineRoute(
 *   { method: "GET", path: "/api/v1/things/{thing_id}", scope: "read", summary: "One thing",
 *     params: z.strictObject({ thing_id: z.uuid() }), answer: thingSchema },
 *   async ({ params }, { sql }: ThingsApi) => thingJson(await readThing(sql, params.thing_id)),
 * );
 * export const api = createApi("things-api", [readThing], dependencies);
 * export const handler = api.handler;
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context as LambdaContext } from "aws-lambda";
import type { Context } from "hono";
import { handle } from "hono/aws-lambda";
import { bodyLimit } from "hono/body-limit";
import type { AccessScope } from "../../shared/access/api-keys.ts";
import { type Caller, type Gate, rateLimitHeaders } from "../../shared/access/authorize.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { uuidv7 } from "../../shared/platform/ids.ts";
import { createLogger, type Logger } from "../../shared/platform/log.ts";
import { once } from "../../shared/platform/once.ts";
import { type ErrorResponse, toApiError, validationError } from "./api-errors.ts";

/** What every API function needs; each adds its own. */
export interface ApiDependencies {
  gate: Gate;
  log: Logger;
}

export interface ApiRequest<Params, Query, Body, Who> {
  params: Params;
  query: Query;
  body: Body;
  caller: Who;
  requestId: string;
  log: Logger;
}

type HttpMethod = "GET" | "POST" | "PUT" | "DELETE";
type Schema = z.ZodType | undefined;
type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface RouteSpec<Who, Params, Query, Body, Answer> {
  method: HttpMethod;
  path: `/${string}`;
  /** Of the key that is required; `public`: none is. */
  scope: Who;
  summary: string;
  /** A path parameter that does not fit its schema is answered 404. */
  params?: Params;
  query?: Query;
  body?: Body;
  answer: Answer;
  /** Of the answer where all goes well; 200 where not given. */
  status?: 200 | 201 | 202 | 204;
}

export interface DefinedRoute<Dependencies> {
  spec: RouteSpec<AccessScope | "public", Schema, Schema, Schema, z.ZodType>;
  run(request: ApiRequest<unknown, unknown, unknown, Caller | null>, dependencies: Dependencies): Promise<unknown>;
}

/** An answer with another status than the route's own, e.g. 503 of a readiness check. */
export class Answer<Body> {
  readonly status: 200 | 503;
  readonly body: Body;

  constructor(status: 200 | 503, body: Body) {
    this.status = status;
    this.body = body;
  }
}

export function defineRoute<
  Dependencies,
  Who extends AccessScope | "public",
  AnswerSchema extends z.ZodType,
  Params extends Schema = undefined,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
>(
  spec: RouteSpec<Who, Params, Query, Body, AnswerSchema>,
  run: (
    request: ApiRequest<Output<Params>, Output<Query>, Output<Body>, Who extends "public" ? null : Caller>,
    dependencies: Dependencies,
  ) => Promise<z.input<AnswerSchema> | Answer<z.input<AnswerSchema>>>,
): DefinedRoute<Dependencies> {
  // the adapter below hands over exactly what the schemas of this spec put out
  return { spec, run: run as DefinedRoute<Dependencies>["run"] };
}

export interface Api {
  name: string;
  routes: readonly { method: HttpMethod; path: string }[];
  handler(event: APIGatewayProxyEvent, context: LambdaContext): Promise<APIGatewayProxyResult>;
  /** OpenAPI 3.1. */
  openApi(): OpenApiDocument;
}

export type OpenApiDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

/** Lambda's own limit of a request; more goes through a presigned upload. */
export const MAX_BODY_BYTES = 6 * 1024 * 1024;

interface ApiEnv {
  Bindings: { event?: APIGatewayProxyEvent };
  Variables: { requestId: string; log: Logger; caller: Caller | null; errorCode: string | undefined };
}

/** @param dependencies called for every request; builds what the container keeps at the first call */
export function createApi<Dependencies extends ApiDependencies>(
  name: string,
  routes: readonly DefinedRoute<Dependencies>[],
  dependencies: () => Dependencies | Promise<Dependencies>,
): Api {
  const app = once(() => buildApp(name, routes, dependencies));
  return {
    name,
    routes: routes.map(({ spec: { method, path } }) => ({ method, path })),
    handler: createLambdaHandler(name, app),
    openApi: () => app().getOpenAPI31Document({ openapi: "3.1.0", info: { title: "Strandline", version: "1" } }),
  };
}

function buildApp<Dependencies extends ApiDependencies>(
  name: string,
  routes: readonly DefinedRoute<Dependencies>[],
  dependencies: () => Dependencies | Promise<Dependencies>,
): OpenAPIHono<ApiEnv> {
  const app = new OpenAPIHono<ApiEnv>({
    defaultHook: (result) => {
      if (!result.success) throw validationError(result.error, result.target);
    },
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "api_key", { type: "http", scheme: "bearer" });

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
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: refuseBody }));
  app.onError((error, c) => {
    const answer = toApiError(error);
    if (answer.status >= 500) c.get("log").error("request failed", { code: answer.code, error });
    c.set("errorCode", answer.code);
    return c.json(errorResponse(answer, c.get("requestId")), answer.status as 500, answer.headers);
  });
  app.notFound((c) => {
    const answer = new ApiError(404, "There is no such route", { code: "NOT_FOUND" });
    return c.json(errorResponse(answer, c.get("requestId")), 404);
  });
  for (const route of routes) addRoute(app, route, dependencies);
  return app;
}

function addRoute<Dependencies extends ApiDependencies>(
  app: OpenAPIHono<ApiEnv>,
  { spec, run }: DefinedRoute<Dependencies>,
  dependencies: () => Dependencies | Promise<Dependencies>,
): void {
  const { scope, status = 200 } = spec;
  const config = createRoute({
    method: spec.method.toLowerCase() as "get" | "post" | "put" | "delete",
    path: spec.path,
    summary: spec.summary,
    ...(scope === "public" ? {} : { security: [{ api_key: [] }] }),
    middleware: async (c: Context<ApiEnv>, next: () => Promise<void>) => {
      if (scope !== "public") {
        const { gate } = await dependencies();
        const { caller, rate } = await gate.admit(presentedKey(c), scope);
        c.set("caller", caller);
        for (const [header, value] of Object.entries(rateLimitHeaders(rate))) c.header(header, value);
      }
      await next();
    },
    request: {
      ...(spec.params && { params: objectSchema(spec.params) }),
      // without a schema of its own a route takes no query parameters
      query: objectSchema(spec.query ?? z.strictObject({})),
      ...(spec.body && { body: { required: true, content: { "application/json": { schema: spec.body } } } }),
    },
    responses: {
      [status]: {
        description: spec.summary,
        ...(status === 204 ? {} : { content: { "application/json": { schema: spec.answer } } }),
      },
      default: { description: "An error", content: { "application/json": { schema: errorResponseSchema } } },
    },
  });
  app.openapi(config, async (c) => {
    const { req } = c as unknown as { req: { valid(part: string): unknown } };
    const answer = await run(
      {
        params: spec.params && req.valid("param"),
        query: spec.query && req.valid("query"),
        body: spec.body && req.valid("json"),
        caller: c.get("caller"),
        requestId: c.get("requestId"),
        log: c.get("log"),
      },
      await dependencies(),
    );
    if (answer instanceof Answer) return c.json(answer.body, answer.status);
    return status === 204 ? c.body(null, 204) : c.json(answer, status);
  });
}

/** API Gateway proxy events in, proxy results out. */
function createLambdaHandler(name: string, app: () => OpenAPIHono<ApiEnv>): Api["handler"] {
  const serve = once(() => handle(app()) as (event: unknown, context: LambdaContext) => Promise<APIGatewayProxyResult>);
  return async (event, context) => {
    // a Request with these methods may not hold a body; whatever was sent along has no meaning
    const bodiless = event.httpMethod === "GET" || event.httpMethod === "HEAD";
    try {
      const result = await serve()(bodiless ? { ...event, body: null } : event, context);
      // an event that makes no valid Request, e.g. for a header name with a space, never reaches the routes
      if (result.statusCode !== 400 || result.body !== "Invalid request") return result;
      return errorResult(event, new ApiError(400, "The request is not valid HTTP", { code: "BAD_REQUEST" }));
    } catch (error) {
      // the router lets through what is thrown and is no Error
      createLogger({ function: name }).error("request failed", { request_id: event.requestContext?.requestId, error });
      return errorResult(event, toApiError(error));
    }
  };
}

function errorResult(event: APIGatewayProxyEvent, error: ApiError): APIGatewayProxyResult {
  const body = JSON.stringify(errorResponse(error, event.requestContext?.requestId ?? uuidv7()));
  return { statusCode: error.status, headers: { "content-type": "application/json" }, body };
}

/** `Authorization: Bearer KEY`, or `X-API-Key: KEY`. */
function presentedKey(c: Context<ApiEnv>): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(c.req.header("authorization")?.trim() ?? "")?.[1];
  return bearer ?? c.req.header("x-api-key")?.trim();
}

function refuseBody(): never {
  throw new ApiError(413, `The request body is over the limit of ${MAX_BODY_BYTES} bytes (6 MB)`, {
    code: "PAYLOAD_TOO_LARGE",
    details: { limit_bytes: MAX_BODY_BYTES },
  });
}

const errorResponseSchema = z
  .object({
    error: z.string(),
    code: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
    request_id: z.string(),
  })
  .openapi("ErrorResponse");

function errorResponse({ message, code, details }: ApiError, request_id: string): ErrorResponse {
  return { error: message, code, ...(details && { details }), request_id };
}

/** Path and query parameters come as objects. */
function objectSchema(schema: z.ZodType): z.ZodObject {
  if (!(schema instanceof z.ZodObject)) throw new TypeError("Path and query schemas are objects");
  return schema;
}
