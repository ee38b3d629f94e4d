/** Decides what becomes of a frontier URL by its capture: crawled, failed, skipped, or tried again. */
import { CAPTURE_ERROR_CODES, type Capture } from "../../capture/capture.ts";
import { MAX_RETRY_AFTER_MS } from "../../platform/retry-after.ts";

/** Tries of one URL, the first included. */
export const MAX_ATTEMPTS = 4;

export interface Outcome {
  /** `pending`: it is tried again. */
  state: "crawled" | "failed" | "skipped" | "pending";
  errorCode: string | null;
  /** How long to wait before the next try, in ms; 0 where there is none. */
  waitMs: number;
  /** No request was made, so that the URL does not count against `max_pages`. */
  givesBudgetBack: boolean;
}

type Observed = Pick<Capture, "status" | "redirects" | "error">;

/**
 * Says what becomes of a URL: it is done, failed, skipped, or tried again.
 * @param attempt tries before this one
 * @example
 * const error = { code: "HTTP_503", message: "overloaded", retryable: true };
 * outcomeOf({ status: 503, redirects: [], error }, 0).state // => "pending"
 * outcomeOf({ status: 503, redirects: [], error }, MAX_ATTEMPTS - 1).state // => "failed"
 */
export function outcomeOf({ status, redirects, error }: Observed, attempt: number): Outcome {
  if (error === null) return { state: "crawled", errorCode: null, waitMs: 0, givesBudgetBack: false };
  const { code, retryable, retryAfterMs = 0 } = error;
  if (retryable && attempt + 1 < MAX_ATTEMPTS) {
    const waitMs = Math.max(retryWaitMs(attempt), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
    return { state: "pending", errorCode: code, waitMs, givesBudgetBack: false };
  }
  const state = Object.hasOwn(CAPTURE_ERROR_CODES, code)
    ? CAPTURE_ERROR_CODES[code as keyof typeof CAPTURE_ERROR_CODES]
    : "failed";
  const requested = status > 0 || redirects.length > 0 || attempt > 0;
  return { state, errorCode: code, waitMs: 0, givesBudgetBack: state === "skipped" && !requested };
}

/** 1, 2, 4 s. A host that asked for more time is slowed as a whole, by the fetcher. */
export function retryWaitMs(attempt: number): number {
  return 1000 * 2 ** attempt;
}
