/**
 * Faults that say nothing of the work at hand, since a service behind us does not answer at the moment; and waiting
 * them out.
 */
import type { Clock } from "./clock.ts";
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

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

export interface RetryPolicy {
  /** Epoch ms after which it is not tried again. */
  until?: number;
  tries?: number;
  /** Doubled with each try. */
  firstPauseMs?: number;
  isTransient?(error: unknown): boolean;
}

/**
 * Does the work again, after pauses that grow, while its fault is a transient one: where giving up would throw away
 * work that cannot be had again for free.
 *
 * @throws the last fault
 */
export async function retryTransient<T>(clock: Clock, policy: RetryPolicy, work: () => Promise<T>): Promise<T> {
  const { until = Number.POSITIVE_INFINITY, tries = Number.POSITIVE_INFINITY, isTransient = isTransientError } = policy;
  let pauseMs = policy.firstPauseMs ?? FIRST_PAUSE_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === tries || !isTransient(error) || clock.now() + pauseMs > until) throw error;
      await clock.sleep(pauseMs);
      pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
    }
  }
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
