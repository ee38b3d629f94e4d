/** `Retry-After` in both of its forms (RFC 9110 section 10.2.3). */

/** The longest that a site is left alone for one answer, in ms: as long as SQS can hold a message back. */
export const MAX_RETRY_AFTER_MS = 900_000;

/** @returns ms from `now`, between 0 and `MAX_RETRY_AFTER_MS`; undefined where the value is neither seconds nor a date */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : httpDate(text) - now;
  return Number.isNaN(wait) ? undefined : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, wait));
}

/** HTTP dates name a month; `Date.parse` alone would also take "-5" for a year. */
function httpDate(text: string): number {
  return /\b[A-Z][a-z]{2}\b/.test(text) ? Date.parse(text) : Number.NaN;
}
