/**
 * Routes whose answer may be a stream. What `run` throws becomes an error answer; what the chunks throw comes too late
 * for that and cuts the connection, so that nobody takes the answer for whole.
 *
 * @example
 * const readLog = defineStreamRoute(
 *   { method: "GET", path: "/things/{thing_id}/log", scope: "read", summary: "What happens to a thing",
 *     params: z.strictObject({ thing_id: z.uuid() }), answer: thingSchema, streams: { "application/x-ndjson": lineSchema } },
 *   async ({ params, signal }, { sql }: ThingsApi) =>
 *     new StreamedAnswer({ contentType: "application/x-ndjson", chunks: logLines(sql, params.thing_id, signal) }),
 * );
 */
import type { z } from "zod";
import type { AccessScope } from "../../../shared/access/api-keys.ts";
import type { Caller } from "../../../shared/access/authorize.ts";
import type { Answer, ApiRequest, DefinedRoute, Output, RouteSpec, Schema } from "./route.ts";

export interface StreamRequest<Params, Query, Body, Who> extends ApiRequest<Params, Query, Body, Who> {
  /** A request header, by its name in any case. */
  header(name: string): string | undefined;
  /** Aborts once the client has left. The chunks' `return()` is called too, but only when their next one is there. */
  signal: AbortSignal;
  /** Milliseconds until the function is stopped, and the stream with it. */
  remainingMs(): number;
}

interface StreamOptions {
  contentType: string;
  /** Asked for the next one only when the client has taken those before; always asked for one. */
  chunks: AsyncIterable<string | Uint8Array>;
  status?: 200 | 202;
  headers?: Record<string, string>;
}

/** An answer that is sent while it is made. Its head leaves at once, before the first chunk. */
export class StreamedAnswer {
  readonly contentType: string;
  readonly chunks: AsyncIterable<string | Uint8Array>;
  readonly status: 200 | 202;
  readonly headers: Record<string, string>;

  constructor({ contentType, chunks, status = 200, headers = {} }: StreamOptions) {
    this.contentType = contentType;
    this.chunks = chunks;
    this.status = status;
    this.headers = headers;
  }
}

/**
 * @param spec `answer` and `status` are those of a plain answer, `z.never()` where there is none; `streams` says what
 * each record of a stream is
 */
export function defineStreamRoute<
  Dependencies,
  Who extends AccessScope | "public",
  AnswerSchema extends z.ZodType,
  Params extends Schema = undefined,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
>(
  spec: RouteSpec<Who, Params, Query, Body, AnswerSchema>,
  run: (
    request: StreamRequest<Output<Params>, Output<Query>, Output<Body>, Who extends "public" ? null : Caller>,
    dependencies: Dependencies,
  ) => Promise<z.input<AnswerSchema> | Answer<unknown> | StreamedAnswer>,
): DefinedRoute<Dependencies> {
  // the adapter hands over exactly what the schemas of this spec put out
  return { spec, run: run as DefinedRoute<Dependencies>["run"] };
}
