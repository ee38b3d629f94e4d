/** Faults that say nothing of the work at hand: a service behind us does not answer at the moment. */
import { RetryableError, ThrottledError } from "./errors.ts";

/** Codes of sockets, of the database client, and of PostgreSQL where it starts, stops or is full. */
const UNREACHABLE =
  /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|CONNECT_TIMEOUT|CONNECTION_(CLOSED|ENDED|DESTROYED)|08...|57P0.|53...)$/;

/** Whether the same work may succeed later, by itself. */
export function isPassingFault(error: unknown): boolean {
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
  return error instanceof Error && "$metadata" in error;
}
