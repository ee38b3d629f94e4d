/**
 * As `createApi`, for routes that may stream their response. The handler is a streaming one as a whole, so each of its
 * routes has `streaming: true` in the topology.
 */
import { once as onceEmitted } from "node:events";
import type { Writable } from "node:stream";
import type { APIGatewayProxyEvent, StreamifyHandler } from "aws-lambda";
import { once } from "../../../shared/platform/once.ts";
import { type Api, type ApiOptions, buildApp, openApiOf } from "./api.ts";
import { respond } from "./lambda.ts";
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
    await send(response, raw, gone.signal);
  };
  return {
    name,
    streaming: true,
    routes: routes.map(({ spec: { method, path } }) => ({ method, path })),
    // absent where a handler is loaded for its routes alone, although the AWS SDK makes an `awslambda` of its own
    handler: globalThis.awslambda?.streamifyResponse?.(handler) ?? handler,
    openApi: () => openApiOf(app()),
  };
}

/**
 * Each chunk is asked for once the client has room for it. Returns when all is sent, or the client has left and the
 * chunks have ended: a container may be frozen afterwards.
 * @throws what the chunks throw
 */
async function send(response: Response, raw: Writable, gone: AbortSignal): Promise<void> {
  const stream = awslambda.HttpResponseStream.from(raw, {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
  });
  // the head leaves with the first write, however long the first chunk takes
  if (!gone.aborted) stream.write("");
  const reader = response.body?.getReader();
  if (reader !== undefined) {
    let ended: Promise<void> | undefined;
    const end = () => {
      ended ??= reader.cancel(gone.reason);
      ended.catch(() => {});
    };
    gone.addEventListener("abort", end);
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (gone.aborted) end();
        if (done || gone.aborted) break;
        if (!stream.write(value)) await onceEmitted(stream, "drain", { signal: gone }).catch(() => {});
      }
      await ended;
    } finally {
      gone.removeEventListener("abort", end);
    }
  }
  if (!gone.aborted) stream.end();
}
