/**
 * Errors named after what must happen next. A queue consumer retries, gives up, waits or ends the job by class;
 * an API answers with the code and the HTTP status.
 */

interface ErrorDetails {
  /** Machine-readable, upper case, from the tables of the API reference. */
  code: string;
  cause?: unknown;
}

abstract class StrandlineError extends Error {
  readonly code: string;

  constructor(message: string, { code, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
  }
}

/** A transient error: the same work may succeed later. The queue delivers it again. */
export class RetryableError extends StrandlineError {}

/** The same work can never succeed: it is not tried again. */
export class PermanentError extends StrandlineError {}

/** The other side asked us to slow down. */
export class ThrottledError extends RetryableError {
  /** How long the other side asked us to stay away, in ms. */
  readonly retryAfterMs: number;

  constructor(message: string, details: ErrorDetails & { retryAfterMs: number }) {
    super(message, details);
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** An API response other than success. `details` is shown to the caller, so it must hold nothing private. */
export class ApiError extends StrandlineError {
  readonly status: number;
  readonly details: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    message: string,
    options: ErrorDetails & { details?: Record<string, unknown>; headers?: Record<string, string> },
  ) {
    super(message, options);
    this.status = status;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}
