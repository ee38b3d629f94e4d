/** Calls the HTTP API and turns what goes wrong into words. */
import { ApiError, ConnectionError } from "../client/src/errors.ts";
import { createTransport } from "../client/src/transport.ts";
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
/** How often a request is sent, where the API is busy or its limit reached. */
const TRIES = 4;

export function createApiClient({ url, apiKey }: Connection): ApiClient {
  const send = createTransport({ url, apiKey, tries: TRIES, timeoutMs: REQUEST_TIMEOUT_MS });
  return async <Answer>(method: string, path: string, body?: unknown, as = "json"): Promise<Answer> => {
    try {
      const response = await send({ method, path, body, repeatable: method === "GET" });
      const text = await response.text();
      if (as === "text") return text as Answer;
      return (text === "" ? null : parseAnswer(text, url)) as Answer;
    } catch (error) {
      throw failureOf(error, url);
    }
  };
}

/** What the client throws, as a command ends with it. */
function failureOf(error: unknown, url: string): unknown {
  if (error instanceof ApiError) return new ApiFailure(error.status, error.body ?? {});
  if (!(error instanceof ConnectionError)) return error;
  if (error.cause instanceof Error && error.cause.name === "TimeoutError") {
    return new CliError(`${url} did not answer within ${REQUEST_TIMEOUT_MS / 1000} s`, EXIT.unreachable);
  }
  return new CliError(
    `The API does not answer at ${url} (${reasonOf(error.cause)})`,
    EXIT.unreachable,
    "Start it with `npm start`, or say where it is with --url or STRANDLINE_URL",
    { cause: error.cause },
  );
}

function parseAnswer(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${url} answered with something that is no JSON: is it the Strandline API?`, EXIT.failed);
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
