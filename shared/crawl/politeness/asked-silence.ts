/** Tells how long a site's answer asks to be left alone. */
import { retryAfterMs } from "../../platform/retry-after.ts";
import { headerValue } from "../http/exchange.ts";

/** What a 429 without Retry-After, or with one in the past, asks for, in ms. */
const DEFAULT_HOLD_MS = 5000;

/** @returns ms to stay away; undefined where it asks for nothing */
export function askedSilence(
  { status, headers }: { status: number; headers: readonly (readonly [string, string])[] },
  now: number,
): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const asked = retryAfterMs(headerValue(headers, "retry-after"), now, headerValue(headers, "date"));
  // a time in the past asks for nothing
  if (asked) return asked;
  return status === 429 ? DEFAULT_HOLD_MS : undefined;
}
