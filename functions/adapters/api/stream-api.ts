/**
 * As `createApi`, for routes that may stream their response. The handler is a streaming one as a whole, so each of its
 * routes has `streaming: true` in the topology.
 */
import { once as onceEmitted } from "node:events";
import type { Writable } from "node:stream";
import type { APIGatewayProxyEvent, StreamifyHandler } from "aws-lambda";
import { once } from "../../../shared/platform/once.ts";
import { acceptedCoding, type Coding, compressed, isCompressible, SHORTEST_COMPRESSED_BYTES } from "./answer-coding.ts";
import { type Api, type ApiOptions, buildApp, openApiOf } from "./api.ts";
import { acceptedEncodings, respond } from "./lambda.ts";
import type { ApiDependencies, DefinedRoute } from "./route.ts";

export type StreamHandler = StreamifyHandler<APIGatewayProxyEvent, void>;

export interface StreamApi extends Omit<Api, "handler"> {
  streaming: true;
  handler: StreamHandler;
}

export function createStreamApi<Dependencies extends ApiDependencies>(
  name: string,
  routes: readonly DefinedRoute<Dependencies>[],
  dependencies: () => Dependencies | Promise<Dependencies>,
  options: ApiOptions = {},
): StreamApi {
  const app = once(() => buildApp(name, routes, dependencies, options));
  const served = { name, app, errors: options.errors };
  const handler: StreamHandler = async (event, raw, context) => {
    const gone = new AbortController();
    raw.once("close", () => {
      if (!raw.writableFinished) gone.abort(new Error("The client has left"));
    });
    raw.on("error", (error) => gone.abort(error));
    const remainingMs = () => context.getRemainingTimeInMillis();
    const response = await respond(served, event, { signal: gone.signal, remainingMs });
    await send(response, raw, gone.signal, acceptedEncodings(event));
  };
  return {
    name,
    streaming: true,
    routes: routes.map(({ spec }) => spec),
    // absent where a handler is loaded for its routes alone, although the AWS SDK makes an `awslambda` of its own
    handler: globalThis.awslambda?.streamifyResponse?.(handler) ?? handler,
    openApi: () => openApiOf(app()),
  };
}

/**
 * Each chunk is asked for once the client has room for it. Returns when all is sent, or the client has left and the
 * chunks have ended: a container may be frozen afterwards.
 * @param accepted the request's `Accept-Encoding`
 * @throws what the chunks throw
 */
async function send(response: Response, raw: Writable, gone: AbortSignal, accepted: string | undefined): Promise<void> {
  const headers = Object.fromEntries(response.headers);
  const begin = (coding?: Coding): Writable => {
    if (coding !== undefined) delete headers["content-length"];
    const head = { ...headers, ...(coding !== undefined && { "content-encoding": coding }) };
    return awslambda.HttpResponseStream.from(raw, { statusCode: response.status, headers: head });
  };
  const reader = response.body?.getReader();
  if (reader === undefined) {
    const stream = begin();
    if (!gone.aborted) stream.end();
    return;
  }
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= reader.cancel(gone.reason);
    ended.catch(() => {});
  };
  gone.addEventListener("abort", end);
  try {
    if (gone.aborted) end();
    const coding = isCompressible(headers["content-type"]) ? acceptedCoding(accepted) : undefined;
    const first = coding === undefined ? [] : await beginningOf(reader);
    const isLong = lengthOf(first) >= SHORTEST_COMPRESSED_BYTES;
    const stream = begin(isLong ? coding : undefined);
    // the head leaves with the first write, however long the first chunk takes
    if (!gone.aborted) stream.write("");
    const chunks = chunksOf(first, reader);
    for await (const chunk of isLong && coding !== undefined ? compressed(chunks, coding) : chunks) {
      if (gone.aborted) break;
      if (!stream.write(chunk)) await onceEmitted(stream, "drain", { signal: gone }).catch(() => {});
    }
    if (gone.aborted) end();
    await ended;
    if (!gone.aborted) stream.end();
  } finally {
    gone.removeEventListener("abort", end);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** As much as tells whether the whole is long. */
async function beginningOf(reader: Reader): Promise<Uint8Array[]> {
  const first: Uint8Array[] = [];
  while (lengthOf(first) < SHORTEST_COMPRESSED_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    first.push(value);
  }
  return first;
}

async function* chunksOf(first: readonly Uint8Array[], reader: Reader): AsyncGenerator<Uint8Array> {
  yield* first;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

const lengthOf = (chunks: readonly Uint8Array[]): number => chunks.reduce((sum, { length }) => sum + length, 0);
