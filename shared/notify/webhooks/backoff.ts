/** When a delivery that failed is tried again. */

const FIRST_MS = 60_000;
/** Waits of up to 1, 4, 16, 64 and 256 minutes: half of that on average, with jitter. */
const GROWTH = 4;
/** A receiver may ask for more time than that, but for no more than this. */
export const MOST_RETRY_AFTER_MS = 24 * 3_600_000;

/**
 * Exponential backoff with full jitter: receivers that were down are not asked by all deliveries at once.
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 * @param attempts made so far, at least 1
 * @param retryAfterMs what the receiver asked for: the wait is no shorter
 * @param random from 0 to below 1
 * @returns ms
 */
export function retryDelayMs(attempts: number, retryAfterMs: number | null, random: number): number {
  const jittered = Math.floor(random * FIRST_MS * GROWTH ** (attempts - 1));
  return Math.max(jittered, Math.min(MOST_RETRY_AFTER_MS, retryAfterMs ?? 0));
}
