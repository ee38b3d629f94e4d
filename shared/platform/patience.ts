/**
 * Waiting out the short absence of a service, where giving up would throw away work that cannot be had again for free.
 */
import type { Clock } from "./clock.ts";
import { isTransientError } from "./transient-errors.ts";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Does the work again, after pauses that grow, while its fault is a passing one.
 * @param until epoch ms after which it is not tried again
 * @throws the last fault
 */
export async function retryTransient<T>(clock: Clock, until: number, work: () => Promise<T>): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isTransientError(error) || clock.now() + pauseMs > until) throw error;
      await clock.sleep(pauseMs);
    }
  }
}
