/** Errors as responses: a shape for each family of the API, a code, and nothing of the inside. */
import { HTTPException } from "hono/http-exception";
import type { z } from "zod";
import { UnknownFieldError } from "../../../shared/crawl/results/fields.ts";
import { ApiError, PermanentError, RetryableError, ThrottledError } from "../../../shared/platform/errors.ts";
import { isBusyAws, isUnreachable } from "../../../shared/platform/transient-errors.ts";

/**
 * Each family of the API has a shape of its own. `crawl`: `{error, code, details?, request_id}`; `archive`, for what
 * clients of an archive that exists read: the same, with the message as `detail` too, and 422 for what does not hold;
 * `spider`, for `/spider`, `/jobs` and `/extract`: `{error, error_code, message, details?, request_id}`, where `error`
 * is the code as a name; `harvest`: `{error, details}`, both texts.
 */
export type ErrorShape = "crawl" | "archive" | "spider" | "harvest";

const OF_THE_ARCHIVE =
  /^\/(metrics|api\/(health|stats|sources|search|snapshots?|replay|changes|exports|reports|usage|admin\/(jobs|sources|reports|storage|changes|search-debug)))(\/|$)/;

/** The family that a path belongs to, for whoever answers before its function does. */
export function errorShapeOf(path: string): ErrorShape {
  // what is served below /jobs is served below /api/v1/jobs too
  if (/^\/api\/v1\/jobs\/[^/]+\/(results|stats|stream)$/.test(path)) return "spider";
  if (OF_THE_ARCHIVE.test(path)) return "archive";
  const area = /^\/([^/+]*)/.exec(path)?.[1] ?? "";
  if (area === "spider" || area === "jobs" || area === "extract") return "spider";
  return area === "search-runs" || area === "healthz" ? "harvest" : "crawl";
}

export function errorResponse(
  { message, code, details }: ApiError,
  request_id: string,
  shape: ErrorShape = "crawl",
): Record<string, unknown> {
  if (shape === "harvest") return harvestError(message, code, details);
  const named =
    shape === "spider"
      ? { error: nameOf(code), error_code: code, message }
      : { error: message, code, ...(shape === "archive" && { detail: message }) };
  return { ...named, ...(details && { details }), request_id };
}

/** What does not hold is 422 to clients of the archive (RFC 9110, section 15.5.21), and 400 to all others. */
export const errorStatus = ({ status, code }: ApiError, shape: ErrorShape): number =>
  shape === "archive" && status === 400 && code === "VALIDATION_ERROR" ? 422 : status;

function harvestError(message: string, code: string, details: ApiError["details"]): { error: string; details: string } {
  if (code === "VALIDATION_ERROR") return { error: "invalid request", details: message };
  return { error: message, details: typeof details?.["text"] === "string" ? details["text"] : code };
}

/** `RESULT_TOO_LARGE` is `ResultTooLarge`. */
function nameOf(code: string): string {
  return code
    .toLowerCase()
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

/** One thing wrong with a request. */
interface Fault {
  in: "body" | "query";
  /** e.g. `urls[3]`; empty for the whole. */
  path: string;
  message: string;
}

const RETRY_AFTER_S = "2";

/** Any error as the response to give. Only messages written for callers get through. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof HTTPException) return fromHttpException(error);
  // nobody reads this response: it keeps a client's leave from looking like a fault of ours
  if (error instanceof Error && error.name === "AbortError") {
    return new ApiError(499, "The client has left before the answer", { code: "CLIENT_LEFT", cause: error });
  }
  if (error instanceof UnknownFieldError) {
    const { message, parameter: path } = error;
    const faults: Fault[] = [{ in: "query", path, message }];
    return new ApiError(400, message, { code: "VALIDATION_ERROR", cause: error, details: { faults } });
  }
  if (error instanceof ThrottledError) {
    const headers = { "retry-after": String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))) };
    return new ApiError(503, "A service behind this one asks for a pause: try again later", {
      code: error.code,
      cause: error,
      headers,
    });
  }
  if (error instanceof RetryableError || isUnreachable(error) || isBusyAws(error)) {
    return new ApiError(503, "A service behind this one does not answer at the moment: try again", {
      code: error instanceof RetryableError ? error.code : "SERVICE_UNAVAILABLE",
      cause: error,
      headers: { "retry-after": RETRY_AFTER_S },
    });
  }
  if (error instanceof PermanentError && error.code === "URL_INVALID") {
    return new ApiError(400, error.message, { code: error.code, cause: error });
  }
  if (error instanceof PermanentError && error.code === "URL_BLOCKED") {
    return new ApiError(403, error.message, { code: error.code, cause: error });
  }
  return new ApiError(500, "Something failed on our side: the log has the details under the request id", {
    code: "INTERNAL_ERROR",
    cause: error,
  });
}

/** 400 with the path of every fault; a path parameter that cannot be an id of ours is simply not found. */
export function validationError(error: z.core.$ZodError, target: string): ApiError {
  if (target === "param") return new ApiError(404, "There is nothing with this id", { code: "NOT_FOUND" });
  const where = target === "query" ? "query" : "body";
  const count = error.issues.reduce(
    (sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1),
    0,
  );
  const faults = error.issues
    .slice(0, MAX_FAULTS)
    .flatMap((issue) => faultsOf(issue, where))
    .slice(0, MAX_FAULTS);
  const summary = faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  return new ApiError(400, `The request ${where} has ${count} fault(s): ${summary.slice(0, 1000)}`, {
    code: "VALIDATION_ERROR",
    details: { faults },
  });
}

/**
 * 400 where a body holds more values than any request needs: judging each of some millions would exhaust the container.
 */
export function tooManyValuesError(limit: number): ApiError {
  const message = `The request body holds more than ${limit} values: split it into several requests`;
  const faults: Fault[] = [{ in: "body", path: "", message }];
  return new ApiError(400, message, { code: "VALIDATION_ERROR", details: { faults } });
}

/** 400 for a name that would be dropped on the way. */
export function protoError(): ApiError {
  const message = "No field may be named __proto__";
  const faults: Fault[] = [{ in: "body", path: "", message }];
  return new ApiError(400, message, { code: "VALIDATION_ERROR", details: { faults } });
}

/** 400 where text cannot be stored: PostgreSQL takes neither NUL nor half a surrogate pair. */
export function unstorableTextError(paths: readonly PropertyKey[][], where: Fault["in"]): ApiError {
  const faults = paths.map(
    (path): Fault => ({ in: where, path: pathText(path), message: "holds NUL or broken Unicode" }),
  );
  const summary = faults.map(({ path }) => path).join(", ");
  return new ApiError(400, `The request ${where} holds text that cannot be stored: ${summary.slice(0, 1000)}`, {
    code: "VALIDATION_ERROR",
    details: { faults: faults.slice(0, MAX_FAULTS) },
  });
}

/** Faults that one response names. */
const MAX_FAULTS = 100;
/** Characters of a field's name and of what is wrong with it: either may hold what the request sent. */
const MAX_FAULT_TEXT = 1_000;

function faultsOf(issue: z.core.$ZodIssue, where: Fault["in"]): Fault[] {
  if (issue.code === "unrecognized_keys") {
    const keys = issue.keys.slice(0, MAX_FAULTS);
    return keys.map((key) => ({ in: where, path: pathText([...issue.path, key]), message: "unknown field" }));
  }
  return [{ in: where, path: pathText(issue.path), message: shortened(messageOf(issue)) }];
}

/** In words: a regular expression tells nobody what to write. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_key") return issue.issues[0] ? messageOf(issue.issues[0]) : issue.message;
  if (issue.code === "invalid_format" && issue.pattern !== undefined && issue.message.includes(issue.pattern)) {
    return "does not have the form that this field has: see the API's description";
  }
  return issue.message;
}

const shortened = (text: string): string =>
  text.length > MAX_FAULT_TEXT ? `${text.slice(0, MAX_FAULT_TEXT).toWellFormed()}…` : text;

function pathText(path: readonly PropertyKey[]): string {
  const text = path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`))
    .join("");
  return shortened(text);
}

/** What the router itself refuses: a body that is no JSON, or not declared as such. */
function fromHttpException(error: HTTPException): ApiError {
  if (error.status === 400) {
    return new ApiError(400, "The request body is not valid JSON", { code: "VALIDATION_ERROR", cause: error });
  }
  if (error.status === 415) return notDeclaredAsJson(error);
  return new ApiError(error.status, "The request was refused", { code: "BAD_REQUEST", cause: error });
}

export function notDeclaredAsJson(cause?: Error): ApiError {
  return new ApiError(415, "Send the body with `Content-Type: application/json`", {
    code: "UNSUPPORTED_MEDIA_TYPE",
    cause,
  });
}
