/**
 * The one way to serve routes. A request is authenticated, counted against its key's limit and validated, in this order,
 * before a route sees it; what the route throws becomes an error answer.
 *
 * @example
 * export const api = createApi("things-api", [readThing], dependencies);
 * export const handler = api.handler;
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { APIGatewayProxyEvent } from "aws-lambda";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type Caller, rateLimitHeaders } from "../../shared/access/authorize.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { uuidv7 } from "../../shared/platform/ids.ts";
import { createLogger, type Logger } from "../../shared/platform/log.ts";
import { once } from "../../shared/platform/once.ts";
import { errorResponse, toApiError, unstorableTextError, validationError } from "./api-errors.ts";
import { createLambdaHandler, type LambdaHandler } from "./api-lambda.ts";
import { Answer, type ApiDependencies, type DefinedRoute, type HttpMethod } from "./api-route.ts";
import { unstorablePaths } from "./api-text.ts";

export interface Api {
  name: string;
  routes: readonly { method: HttpMethod; path: string }[];
  handler: LambdaHandler;
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
    const body = spec.body && req.valid("json");
    const unstorable = unstorablePaths(body);
    if (unstorable.length > 0) throw unstorableTextError(unstorable);
    const answer = await run(
      {
        params: spec.params && req.valid("param"),
        query: spec.query && req.valid("query"),
        body,
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

/** Path and query parameters come as objects. */
function objectSchema(schema: z.ZodType): z.ZodObject {
  if (!(schema instanceof z.ZodObject)) throw new TypeError("Path and query schemas are objects");
  return schema;
}
