/** The HTTP API, asked with the key of whoever asks: what that may not do is refused there. */
import { z } from "zod";
import { SCOPES } from "../../shared/access/api-keys.ts";
import { ApiRefusal, type AskApi } from "../../shared/mcp/server.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { CallFailed, callJson, type JsonCall, type JsonReply } from "../../shared/platform/json-client.ts";

/** Less than the function has, so that its own answer still goes out. */
const TIMEOUT_MS = 25_000;
/** What functions answer with at the most. */
const MAX_BYTES = 6 * 1024 * 1024;

/** Of either shape: see the API's table of errors. */
const errorSchema = z
  .object({ error: z.string(), message: z.string(), code: z.string(), error_code: z.string() })
  .partial()
  .catch({});

/** @param apiUrl with the stage, where there is one */
export function askWithKey(apiUrl: string, key: string, signal: AbortSignal): AskApi {
  return async <Answer>(method: "GET" | "POST", path: string, body?: unknown): Promise<Answer> => {
    const reply = await send({ apiUrl, key, method, path, body, signal }).catch((error: unknown) => {
      if (!(error instanceof CallFailed)) throw error;
      throw new ApiRefusal(`The API did not answer (${error.reason}): try again`, { cause: error });
    });
    if (reply.status < 200 || reply.status > 299) throw new ApiRefusal(refusalOf(reply));
    return JSON.parse(reply.body) as Answer;
  };
}

function refusalOf({ status, headers, body }: JsonReply): string {
  const { error, message, code, error_code } = errorSchema.parse(jsonOf(body));
  const retry = headers["retry-after"];
  const when = retry === undefined ? "" : `: try again in ${retry} s`;
  return `${message ?? error ?? `The API answered with status ${status}`} (${error_code ?? code ?? status})${when}`;
}

const ownKeySchema = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  collections: z.array(z.string()).nullable(),
});

/**
 * Who presents a key, and what the key's limit leaves.
 * @throws ApiError what the API answers where it takes the key for none, or has had enough of it; 503 where it does not
 * answer
 */
export async function readOwnKey(apiUrl: string, key: string) {
  const reply = await send({ apiUrl, key, method: "GET", path: "/api/v1/api-keys/self" }).catch((cause: unknown) => {
    if (!(cause instanceof CallFailed)) throw cause;
    throw unavailable(cause);
  });
  const { status, headers } = reply;
  if (status >= 500) throw unavailable();
  if (status !== 200) {
    const { error = "The API refused the key", code = "FORBIDDEN" } = errorSchema.parse(jsonOf(reply.body));
    const kept = ["www-authenticate", "retry-after", ...RATE].flatMap((name) =>
      headers[name] === undefined ? [] : [[name, headers[name]] as const],
    );
    throw new ApiError(status, error, { code, headers: Object.fromEntries(kept) });
  }
  const { id: keyId, collections: collectionIds, ...named } = ownKeySchema.parse(jsonOf(reply.body));
  const [limit = 0, remaining = 0, resetS = 0] = RATE.map((name) => Number(headers[name] ?? 0));
  const rate = { limit, remaining, resetAt: resetS * 1000, exceeded: false };
  return { caller: { keyId, collectionIds, ...named }, rate };
}

const RATE = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] as const;

interface Asked extends Pick<JsonCall, "method" | "body" | "signal"> {
  apiUrl: string;
  key: string;
  path: string;
}

async function send({ apiUrl, key, path, ...call }: Asked): Promise<JsonReply> {
  if (apiUrl === "") throw new Error("API__URL is empty: the deployment and `npm start` set it");
  return await callJson({
    ...call,
    url: new URL(apiUrl + path),
    headers: { authorization: `Bearer ${key}` },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
}

const unavailable = (cause?: unknown): ApiError =>
  new ApiError(503, "Not available at the moment: try again", {
    code: "SERVICE_UNAVAILABLE",
    headers: { "retry-after": "5" },
    cause,
  });

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
