/** When requests reached a server of this process, whatever kept the process from noticing. */

const TICK_MS = 5;
/** A connection that is accepted at one turn of the event loop is read at the next: that many turns may lie between. */
const TURNS = 3;

const ticks: number[] = [];
let ticking: NodeJS.Timeout | undefined;

/** Begins to keep the time; the servers of the tests' sites call it when they start. */
export function watchArrivals(): void {
  if (ticking !== undefined) return;
  ticks.push(Date.now());
  ticking = setInterval(() => {
    ticks.push(Date.now());
    if (ticks.length > TURNS) ticks.shift();
  }, TICK_MS);
  ticking.unref();
}

/** Epoch ms before which what is being handled now had not arrived: by then all that had was handled. */
export const notArrivedBefore = (): number => ticks[0] ?? Date.now();

interface Arrival {
  /** Epoch ms at which the request was handled. */
  at: number;
  /** Epoch ms before which it had not arrived. */
  since: number;
}

/**
 * The most of these requests that certainly arrived within one second. A process that stands still for a while handles at once
 * what came meanwhile: that alone is no burst.
 */
export function busiestSecond(requests: readonly Arrival[]): number {
  const sorted = requests.toSorted((a, b) => a.at - b.at);
  return Math.max(
    0,
    ...sorted.map(({ since }, first) => sorted.slice(first).filter(({ at }) => at < since + 1000).length),
  );
}
