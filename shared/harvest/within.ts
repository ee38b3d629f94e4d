/** Bounds how long work is waited for. */
import type { Clock } from "../platform/clock.ts";

/** @returns what the work gives; undefined where it takes longer than `ms`, and then its end concerns nobody */
export async function within<T>(ms: number, clock: Clock, work: () => Promise<T>): Promise<T | undefined> {
  const over = new AbortController();
  const late = clock.sleep(ms, over.signal).then(
    () => undefined,
    () => undefined,
  );
  const working = work();
  working.catch(() => undefined);
  try {
    return await Promise.race([working, late]);
  } finally {
    over.abort();
  }
}
