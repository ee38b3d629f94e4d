/**
 * How a route is described: method, path, scope and schemas, and what it does with a request that has passed them.
 *
 * @example
 * const readThing = defineRoute(
 *   { method: "GET", path: "/api/v1/things/{thing_id}", scope: "read", summary: "One thing",
 *     params: z.strictObject({ thing_id: z.uuid() }), response: thingSchema },
 *   async ({ params }, { sql }: ThingsApi) => thingJson(await readThing(sql, params.thing_id)),
 * );
 */
import type { z } from "zod";
import type { AccessScope } from "../../../shared/access/api-keys.ts";
import type { Caller, Gate } from "../../../shared/access/authorize.ts";
import type { IdempotencyKeys } from "../../../shared/access/idempotency.ts";
import type { Readers } from "../../../shared/access/readers.ts";
import type { Logger } from "../../../shared/platform/observability/log.ts";

/** What every API function needs; each adds its own. */
export interface ApiDependencies {
  gate: Gate;
  /** Counts who asks without a key. */
  readers?: Readers;
  /** For routes that take an `Idempotency-Key`. */
  idempotencyKeys?: IdempotencyKeys;
  log: Logger;
}

export interface ApiRequest<Params, Query, Body, Who> {
  params: Params;
  query: Query;
  body: Body;
  caller: Who;
  requestId: string;
  log: Logger;
  /**
   * The id that a part of what the request makes must get, where it was sent with an `Idempotency-Key`: what is there
   * with this id was made by the same request before.
   */
  reservedId(part: string): string | undefined;
}

export type HttpMethod = "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
export type Schema = z.ZodType | undefined;
/** What a handler gets of a part of the request. */
export type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface RouteSpec<Who, Params, Query, Body, ApiResponse> {
  method: HttpMethod;
  path: `/${string}`;
  /** Of the key that is required; `public`: none is. */
  scope: Who;
  /**
   * Whether keys that are limited to collections may ask: the route shows and changes nothing but what is in the
   * `caller.collectionIds`. Others refuse such keys.
   */
  limited?: true;
  /** Whether the deployment lets anybody ask, without a key. */
  open?: () => boolean;
  summary: string;
  /** Takes an `Idempotency-Key`: what the route makes has the ids of `reservedId`. */
  idempotent?: true;
  /** A path parameter that does not fit its schema is answered 404. */
  params?: Params;
  query?: Query;
  body?: Body;
  response: ApiResponse;
  /** Of the response where all goes well; 200 where not given. */
  status?: 200 | 201 | 202 | 204 | 302;
  /** Of an `ApiResponse` with 202, where the route has one beside its own. */
  accepted?: z.ZodType;
  /** What else an `ApiResponse` or a stream may be, and what that says: with the route's own body where it has one. */
  otherwise?: Readonly<Partial<Record<202 | 204 | 206 | 304 | 400 | 406 | 500 | 503, string>>>;
  /**
   * Codes of errors by status, for the OpenAPI document: those that the route's own code does not throw by name, such
   * as what a worker answers.
   */
  errors?: Readonly<Record<number, readonly string[]>>;
  /** What the response may bear beside what all bear: by name, what it says. */
  headers?: Readonly<Record<string, string>>;
  /** Where the response may be a stream: by content type, what each of its records is. */
  streams?: Readonly<Record<string, z.ZodType>>;
}

export interface DefinedRoute<Dependencies> {
  spec: RouteSpec<AccessScope | "public", Schema, Schema, Schema, z.ZodType>;
  run(request: ApiRequest<unknown, unknown, unknown, Caller | null>, dependencies: Dependencies): Promise<unknown>;
}

/** The same route at another path with the same parameters, e.g. below `/api/v1` as well. */
export function alsoAt<Dependencies>(
  { spec, run }: DefinedRoute<Dependencies>,
  path: RouteSpec<"public", undefined, undefined, undefined, z.ZodType>["path"],
): DefinedRoute<Dependencies> {
  return { spec: { ...spec, path }, run };
}

/** The same route for who asks for the head of its answer alone. */
export function headOf<Dependencies>({ spec, run }: DefinedRoute<Dependencies>): DefinedRoute<Dependencies> {
  return { spec: { ...spec, method: "HEAD" }, run };
}

/** A response with another status than the route's own, e.g. 503 of a readiness check. */
export class ApiResponse<Body> {
  readonly status: 200 | 202 | 204 | 302 | 304 | 400 | 406 | 500 | 503;
  /** Of an answer without one: null. */
  readonly body: Body;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: ApiResponse<Body>["status"], body: Body, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export function defineRoute<
  Dependencies,
  Who extends AccessScope | "public",
  ResponseSchema extends z.ZodType,
  Params extends Schema = undefined,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
>(
  spec: RouteSpec<Who, Params, Query, Body, ResponseSchema>,
  run: (
    request: ApiRequest<Output<Params>, Output<Query>, Output<Body>, Who extends "public" ? null : Caller>,
    dependencies: Dependencies,
  ) => Promise<z.input<ResponseSchema> | ApiResponse<z.input<ResponseSchema>>>,
): DefinedRoute<Dependencies> {
  // the adapter below hands over exactly what the schemas of this spec put out
  return { spec, run: run as DefinedRoute<Dependencies>["run"] };
}
