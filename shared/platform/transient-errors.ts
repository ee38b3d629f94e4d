/** Faults that say nothing of the work at hand: a service behind us does not answer at the moment. */
import { RetryableError, ThrottledError } from "./errors.ts";

/** Codes of sockets, of the database client, and of PostgreSQL where it starts, stops or is full. */
const UNREACHABLE =
  /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|CONNECT_TIMEOUT|CONNECTION_(CLOSED|ENDED|DESTROYED)|08...|57P0.|53...)$/;

/** Whether the same work may succeed later, by itself. */
export function isTransientError(error: unknown): boolean {
  return (
    error instanceof RetryableError || error instanceof ThrottledError || isUnreachable(error) || isFaultOfAws(error)
  );
}

/** Whether the database, or what else a socket leads to, does not answer. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && UNREACHABLE.test(error.code);
}

/** S3, SQS and DynamoDB: the SDK has tried again by itself before. */
function isFaultOfAws(error: unknown): boolean {
  return error instanceof Error && ("$metadata" in error || error.name === "TimeoutError");
}

/**
 * What AWS calls it where a request comes too soon, or was not done in time; its HTTP status is 400 as often as not.
 */
const BUSY = /Throttl|TooManyRequests|SlowDown|ThroughputExceeded|RequestLimitExceeded|^(TimeoutError|RequestTimeout)/;

/** Whether a service of AWS asks for time, as opposed to one that refuses what it was asked. */
export function isBusyAws(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return BUSY.test(error.name) || statusOf(error) >= 500 || statusOf(error) === 429;
}

function statusOf(error: Error): number {
  const about = "$metadata" in error ? error.$metadata : undefined;
  if (typeof about !== "object" || about === null || !("httpStatusCode" in about)) return 0;
  return Number(about.httpStatusCode);
}
