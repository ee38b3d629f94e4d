/** Parses `Retry-After` in both of its forms (RFC 9110 section 10.2.3). */

/** The longest that a site is left alone for one answer, in ms: as long as SQS can hold a message back. */
export const MAX_RETRY_AFTER_MS = 900_000;

/** A `Date` that is further from our time means nothing: it is an old copy, or a clock that was never set. */
const MOST_SKEW_MS = 24 * 3600 * 1000;

/**
 * @param servedAt the answer's `Date`: a date to come back at is by the clock of the same server
 * @param mostMs longer waits are cut to it
 * @returns ms from `now`, between 0 and `mostMs`; undefined where the value is neither seconds nor a date
 * @example
 * retryAfterMs("120", 0) // => 120_000
 * retryAfterMs("Thu, 01 Jan 1970 00:00:10 GMT", 4_000) // => 6_000
 */
export function retryAfterMs(
  value: string | undefined,
  now: number,
  servedAt?: string,
  mostMs = MAX_RETRY_AFTER_MS,
): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : httpDate(text) - timeAt(servedAt, now);
  return Number.isNaN(wait) ? undefined : Math.min(mostMs, Math.max(0, wait));
}

function timeAt(servedAt: string | undefined, now: number): number {
  const time = httpDate(servedAt?.trim() ?? "");
  return Math.abs(time - now) <= MOST_SKEW_MS ? time : now;
}

/**
 * HTTP dates name a month; `Date.parse` alone would also take "-5" for a year. That of asctime names no zone, and means
 * GMT.
 */
function httpDate(text: string): number {
  if (!/\b[A-Z][a-z]{2}\b/.test(text)) return Number.NaN;
  return Date.parse(/ \d{4}$/.test(text) ? `${text} GMT` : text);
}
