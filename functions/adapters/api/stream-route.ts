/**
 * Routes whose response may be a stream. What `run` throws becomes an error response; what the chunks throw comes too
 * late for that and cuts the connection, so that nobody takes the response for whole.
 *
 * @example
 * const readLog = defineStreamRoute(
 *   { method: "GET", path: "/things/{thing_id}/log", scope: "read", summary: "What happens to a thing",
 *     params: z.strictObject({ thing_id: z.uuid() }), response: thingSchema,
 *     streams: { "application/x-ndjson": lineSchema } },
 *   async ({ params, signal }, { sql }: ThingsApi) =>
 *     new StreamedResponse({ contentType: "application/x-ndjson", chunks: logLines(sql, params.thing_id, signal) }),
 * );
 */
import type { APIGatewayProxyEvent } from "aws-lambda";
import type { z } from "zod";
import type { AccessScope } from "../../../shared/access/api-keys.ts";
import type { Caller } from "../../../shared/access/authorize.ts";
import type { ApiRequest, ApiResponse, DefinedRoute, Output, RouteSpec, Schema } from "./route.ts";

export interface StreamRequest<Params, Query, Body, Who> extends ApiRequest<Params, Query, Body, Who> {
  /** A request header, by its name in any case. */
  header(name: string): string | undefined;
  /** As it came in. */
  event: APIGatewayProxyEvent | undefined;
  /** Aborts once the client has left. The chunks' `return()` is called too, but only when their next one is there. */
  signal: AbortSignal;
  /** Milliseconds until the function is stopped, and the stream with it. */
  remainingMs(): number;
}

interface StreamOptions {
  contentType: string;
  /** Asked for the next one only when the client has taken those before; always asked for one. */
  chunks: AsyncIterable<string | Uint8Array>;
  status?: StreamedResponse["status"];
  headers?: Record<string, string>;
}

/** A response that is sent while it is made. Its head leaves at once, before the first chunk. */
export class StreamedResponse {
  readonly contentType: string;
  readonly chunks: AsyncIterable<string | Uint8Array>;
  readonly status: 200 | 202 | 206;
  readonly headers: Record<string, string>;

  constructor({ contentType, chunks, status = 200, headers = {} }: StreamOptions) {
    this.contentType = contentType;
    this.chunks = chunks;
    this.status = status;
    this.headers = headers;
  }
}

/**
 * @param spec `response` and `status` are those of a plain response, `z.never()` where there is none; `streams` says
 * what each record of a stream is
 */
export function defineStreamRoute<
  Dependencies,
  Who extends AccessScope | "public",
  ResponseSchema extends z.ZodType,
  Params extends Schema = undefined,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
>(
  spec: RouteSpec<Who, Params, Query, Body, ResponseSchema>,
  run: (
    request: StreamRequest<Output<Params>, Output<Query>, Output<Body>, Who extends "public" ? null : Caller>,
    dependencies: Dependencies,
  ) => Promise<z.input<ResponseSchema> | ApiResponse<unknown> | StreamedResponse>,
): DefinedRoute<Dependencies> {
  // the adapter hands over exactly what the schemas of this spec put out
  return { spec, run: run as DefinedRoute<Dependencies>["run"] };
}

/** A text that is there already, as chunks. */
export async function* onePiece(text: string): AsyncGenerator<string> {
  yield text;
}
