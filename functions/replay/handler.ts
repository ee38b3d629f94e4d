/** Serves the origin on which captures are replayed, and nothing else. */

import { once } from "node:events";
import type { Writable } from "node:stream";
import type { LambdaFunctionURLEvent } from "aws-lambda";
import { replay } from "../../shared/archive/replay/replay.ts";
import type { ReplayAnswer } from "../../shared/archive/replay/replay-answers.ts";
import { errorResponse, toApiError } from "../adapters/api/errors.ts";
import { presentedKey } from "../adapters/api/presented-key.ts";
import { replayFunction } from "./dependencies.ts";

/** The answer to a request of a function URL. */
export async function answer(event: LambdaFunctionURLEvent): Promise<ReplayAnswer> {
  const { config, gate, log, sql, objects } = replayFunction();
  const { http, domainName, requestId } = event.requestContext;
  const header = (name: string): string | undefined => event.headers[name];
  try {
    if (!config.archivePublic) await gate.admit(presentedKey(header), "read", { address: http.sourceIp });
    const scheme = header("x-forwarded-proto") === "http" ? "http" : "https";
    const found = await replay(
      { sql, objects },
      {
        method: http.method,
        path: `${event.rawPath}${event.rawQueryString === "" ? "" : `?${event.rawQueryString}`}`,
        origin: `${scheme}://${domainName}`,
        header,
      },
    );
    return config.archivePublic ? found : { ...found, headers: keptByOneReader(found.headers) };
  } catch (error) {
    const failure = toApiError(error);
    if (failure.status >= 500) log.error("replay failed", { request_id: requestId, code: failure.code, error });
    return {
      status: failure.status,
      headers: { ...failure.headers, "content-type": "application/json", "cache-control": "no-store" },
      body: JSON.stringify(errorResponse(failure, requestId)),
    };
  }
}

/** Whoever needs a key may not find the answer in a cache that others use. */
function keptByOneReader(headers: Record<string, string>): Record<string, string> {
  return { ...headers, "cache-control": headers["cache-control"]?.replace("public", "private") ?? "no-store" };
}

const PIECE_BYTES = 256 * 1024;

async function respond(event: LambdaFunctionURLEvent, raw: Writable): Promise<void> {
  let left = false;
  raw.on("error", () => {
    left = true;
  });
  raw.once("close", () => {
    left = true;
  });
  const { status, headers, body } = await answer(event);
  const bytes = Buffer.from(body);
  const stream = awslambda.HttpResponseStream.from(raw, { statusCode: status, headers });
  if (event.requestContext.http.method !== "HEAD") {
    for (let at = 0; at < bytes.length && !left; at += PIECE_BYTES) {
      if (!stream.write(bytes.subarray(at, at + PIECE_BYTES)))
        await Promise.race([once(stream, "drain"), once(raw, "close")]);
    }
  }
  if (!left) stream.end();
}

export const handler = globalThis.awslambda?.streamifyResponse?.(respond) ?? respond;
