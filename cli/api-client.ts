/** Calls the HTTP API and turns what goes wrong into words. */
import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "./connection.ts";
import { CliError, EXIT } from "./exit.ts";

/** @param as `text`: the answer as it came */
export type ApiClient = <Answer>(
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: unknown,
  as?: "json" | "text",
) => Promise<Answer>;

/** Of either shape: see the API's table of errors. */
interface ErrorBody {
  error?: string;
  code?: string;
  error_code?: string;
  message?: string;
  details?: Record<string, unknown>;
  request_id?: string;
}

/** An error answer of the API. */
export class ApiFailure extends CliError {
  /** As it came; empty where that was no JSON. */
  readonly body: ErrorBody;
  readonly status: number;

  constructor(status: number, answer: ErrorBody) {
    const body = withCode(answer);
    const access = body.code === "AUTH_REQUIRED" || body.code === "FORBIDDEN";
    const usage = status === 400 || body.code === "VALIDATION_ERROR";
    super(describe(status, body), access ? EXIT.access : usage ? EXIT.usage : EXIT.failed, hintFor(body));
    this.body = answer;
    this.status = status;
  }
}

const REQUEST_TIMEOUT_MS = 60_000;
/** How often a request over the limit is sent again. */
const MOST_WAITS = 3;

export function createApiClient({ url, apiKey }: Connection): ApiClient {
  return async <Answer>(method: string, path: string, body?: unknown, as = "json"): Promise<Answer> => {
    for (let waits = 0; ; waits += 1) {
      const response = await send(url, method, path, apiKey, body);
      const text = await response.text();
      if (response.ok && as === "text") return text as Answer;
      if (response.ok) return (text === "" ? null : parseAnswer(text, url)) as Answer;
      const retryAfterS = Number(response.headers.get("retry-after") ?? Number.NaN);
      if (response.status === 429 && waits < MOST_WAITS && retryAfterS <= 60) {
        await delay(retryAfterS * 1000);
        continue;
      }
      throw new ApiFailure(response.status, errorBody(text));
    }
  };
}

async function send(url: string, method: string, path: string, apiKey: string, body: unknown): Promise<Response> {
  try {
    return await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") {
      throw new CliError(`${url} did not answer within ${REQUEST_TIMEOUT_MS / 1000} s`, EXIT.unreachable);
    }
    throw new CliError(
      `The API does not answer at ${url} (${reasonOf(error)})`,
      EXIT.unreachable,
      "Start it with `npm start`, or say where it is with --url or STRANDLINE_URL",
      { cause: error },
    );
  }
}

function parseAnswer(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${url} answered with something that is no JSON: is it the Strandline API?`, EXIT.failed);
  }
}

function errorBody(text: string): ErrorBody {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

/** The spider's family has the name of its code in `error`. */
function withCode(body: ErrorBody): ErrorBody {
  const { error_code: code, message: error } = body;
  return code === undefined || error === undefined ? body : { ...body, code, error };
}

function describe(status: number, { error, code, request_id }: ErrorBody): string {
  const what = error ?? `The API answered with status ${status}`;
  const which = status >= 500 && request_id ? `, request ${request_id}` : "";
  return `${what} (${code ?? status}${which})`;
}

function hintFor({ code, details }: ErrorBody): string | undefined {
  switch (code) {
    case "AUTH_REQUIRED":
      return "The key is unknown, expired or revoked: pass another with --api-key or STRANDLINE_API_KEY";
    case "FORBIDDEN":
      return "Use a key that has the scope, or make one: strandline keys create NAME --scope SCOPE";
    case "URL_BLOCKED": {
      const host = typeof details?.["host"] === "string" ? details["host"] : "HOST";
      return `To crawl a private host of your own, start Strandline with ACCESS__ALLOW_HOSTS=${host}`;
    }
    case "URL_INVALID":
      return "Write the whole address, with its scheme, as in https://example.org/";
    case "EMBEDDER_NOT_CONFIGURED":
      return "Search by keywords instead: --mode keyword";
    default:
      return undefined;
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}
