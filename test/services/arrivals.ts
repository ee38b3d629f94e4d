/** When requests reached a server of this process, whatever kept the process from noticing. */

const TICK_MS = 5;

/** Epoch ms at which the event loop had nothing to do: whatever had arrived by then was handled. */
let caughtUpAt = 0;
let ticking: NodeJS.Timeout | undefined;

/** Begins to keep the time; the servers of the tests' sites call it when they start. */
export function watchArrivals(): void {
  if (ticking !== undefined) return;
  let tickAt = Date.now();
  let { idle } = performance.eventLoopUtilization();
  caughtUpAt = tickAt;
  ticking = setInterval(() => {
    const now = performance.eventLoopUtilization().idle;
    // since the last tick it has waited, and it waits only where nothing is ready
    if (now > idle) caughtUpAt = tickAt;
    idle = now;
    tickAt = Date.now();
  }, TICK_MS);
  ticking.unref();
}

/** Epoch ms before which what is being handled now had not arrived. */
export const notArrivedBefore = (): number => caughtUpAt;

interface CapturedPage {
  /** Epoch ms at which the request was handled. */
  at: number;
  /** Epoch ms before which it had not arrived. */
  since: number;
}

/**
 * The most of these requests that certainly arrived within one second. A process that stands still for a while handles
 * at once what came meanwhile: that alone is no burst.
 */
export function busiestSecond(requests: readonly CapturedPage[]): number {
  const sorted = requests.toSorted((a, b) => a.at - b.at);
  return Math.max(
    0,
    ...sorted.map(({ since }, first) => sorted.slice(first).filter(({ at }) => at < since + 1000).length),
  );
}
