/** What goes wrong between a client and the API. */

/** An error answer of the API, whatever the shape of its family. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** As in the table of error codes, e.g. `URL_BLOCKED`; empty where the answer has none. */
  readonly code: string;
  /** What to do about it, where that can be said. */
  readonly hint: string | undefined;
  /** Names the request in the logs. */
  readonly requestId: string | undefined;
  /** e.g. every fault of a request. */
  readonly details: unknown;
  /** As it came; undefined where it was no JSON. */
  readonly body: unknown;
  /** Seconds until another try is worth while; undefined where the answer does not say. */
  readonly retryAfterS: number | undefined;

  constructor(status: number, body: unknown, headers: Headers) {
    const { error, message, code, error_code, details, request_id } = (isObject(body) ? body : {}) as Record<
      string,
      unknown
    >;
    const named = error_code ?? code;
    super(String((error_code === undefined ? error : message) ?? `The API answered with status ${status}`));
    this.status = status;
    this.code = typeof named === "string" ? named : "";
    this.hint = HINTS[this.code];
    this.requestId = typeof request_id === "string" ? request_id : (headers.get("x-request-id") ?? undefined);
    this.details = details;
    this.body = body;
    this.retryAfterS = retryAfterOf(headers);
  }
}

/** The API could not be reached, or the connection broke before the answer was whole. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

const HINTS: Readonly<Record<string, string>> = {
  AUTH_REQUIRED: "The key is unknown, expired or revoked: use another",
  FORBIDDEN: "Use a key that has the scope of the operation",
  URL_BLOCKED: "The host is private: a deployment of your own may allow it with ACCESS__ALLOW_HOSTS",
  URL_INVALID: "Write the whole address, with its scheme, as in https://example.org/",
  EMBEDDER_NOT_CONFIGURED: "Search by keywords instead: mode keyword",
  RATE_LIMITED: "Ask less often, or raise the limit of the key",
};

/** In seconds; a date, as RFC 9110 has it too, is what is left until then. */
function retryAfterOf(headers: Headers): number | undefined {
  const said = headers.get("retry-after");
  if (said === null) return undefined;
  const seconds = /^\d+$/.test(said) ? Number(said) : (Date.parse(said) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
