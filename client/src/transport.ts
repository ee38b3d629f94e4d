/** One request, sent again where that is safe and may help. */
import { ApiError, ConnectionError } from "./errors.ts";

export interface TransportOptions {
  /** Where the API is, e.g. `http://127.0.0.1:8787`. */
  url: string;
  apiKey?: string;
  /** Tries of a request in all, the first among them. @default 5 */
  tries?: number;
  /** Longest wait for an answer's head, in ms. @default 60_000 */
  timeoutMs?: number;
  /** Longest wait before another try, in ms: who is told to wait longer gets the error. @default 60_000 */
  longestWaitMs?: number;
  fetch?: typeof fetch;
  /** Waits; for tests. */
  delay?(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

export interface Sent {
  method: string;
  /** With its query. */
  path: string;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Whether it may be sent twice: what it does is done once. */
  repeatable: boolean;
  /** The body is a stream, which is read as it comes; otherwise the answer is there once it is whole. */
  streamed?: true;
  signal?: AbortSignal | undefined;
}

export type Transport = (sent: Sent) => Promise<Response>;

const TRIES = 5;
const TIMEOUT_MS = 60_000;
const LONGEST_WAIT_MS = 60_000;
const FIRST_WAIT_MS = 250;

/**
 * Sends requests. 429 is tried again after what `Retry-After` says: the API did not begin with it. Broken connections,
 * 500, 502, 503 and 504, after which the API may have done all of it, only where a repetition does nothing twice.
 */
export function createTransport(options: TransportOptions): Transport {
  const { tries = TRIES, longestWaitMs = LONGEST_WAIT_MS, delay = wait } = options;
  return async (sent) => {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await once(options, sent);
      if (outcome instanceof Response) return outcome;
      const told = outcome instanceof ApiError ? outcome.retryAfterS : undefined;
      const waitMs = told === undefined ? FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2) : told * 1000;
      if (attempt >= tries || waitMs > longestWaitMs || !mayHelp(outcome, sent)) throw outcome;
      await delay(waitMs, sent.signal);
    }
  };
}

function mayHelp(error: ApiError | ConnectionError, { repeatable }: Sent): boolean {
  if (error instanceof ConnectionError) return repeatable;
  if (error.status === 429) return true;
  // the first try with the same `Idempotency-Key` is still under way
  if (error.code === "IDEMPOTENCY_IN_PROGRESS") return true;
  return repeatable && [500, 502, 503, 504].includes(error.status);
}

/** @throws what the signal of the caller was aborted with */
async function once(
  { url, apiKey, timeoutMs = TIMEOUT_MS, fetch: ask = fetch }: TransportOptions,
  { method, path, body, headers, streamed, signal }: Sent,
): Promise<Response | ApiError | ConnectionError> {
  signal?.throwIfAborted();
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException(`no answer within ${timeoutMs / 1000} s`, "TimeoutError")),
    timeoutMs,
  );
  try {
    const response = await ask(url.replace(/\/+$/, "") + path, {
      method,
      headers: {
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
    });
    if (response.ok && streamed) return response;
    if (response.ok) {
      const { status, headers: head } = response;
      return new Response((await response.text()) || null, { status, headers: head });
    }
    return new ApiError(response.status, parsed(await response.text()), response.headers);
  } catch (error) {
    signal?.throwIfAborted();
    const reason = late.signal.aborted ? (late.signal.reason as Error) : error;
    return new ConnectionError(`The API does not answer at ${url || path}: ${String((reason as Error).message)}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Rejects once the signal is aborted. */
export async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}
