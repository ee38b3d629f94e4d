/** Computes a host's slots: how far apart they stand, and how late one may be used. */

/**
 * The slowest of what the job asks for, what the domain's setting allows and what its robots.txt wants. A rate holds
 * for the time that its whole requests take: 2.5 a second are two in any 800 ms, so that a second may see three.
 * @param crawlDelayMs `Crawl-delay` of the host's robots.txt
 * @example
 * paceOf(2.5, undefined, undefined) // => { burst: 2, windowMs: 800, intervalMs: 420, graceMs: 50 }
 * paceOf(10, 5, 4000).windowMs // => 4000
 */
export function paceOf(jobRps: number, domainRps: number | undefined, crawlDelayMs: number | undefined): Pace {
  const rps = Math.min(jobRps, domainRps ?? Number.POSITIVE_INFINITY);
  const delay = Math.min(crawlDelayMs ?? 0, MAX_CRAWL_DELAY_MS);
  const apart = Math.max(1000 / rps, delay);
  const burst = apart > 1000 / rps ? 1 : Math.max(1, Math.floor(rps));
  const jitterMs = 1000 / apart >= FAST_RPS ? FAST_JITTER_MS : JITTER_MS;
  const intervalMs = (apart * (1000 + jitterMs)) / 1000;
  return { burst, windowMs: burst * apart, intervalMs, graceMs: Math.max(jitterMs, intervalMs - apart) };
}

export interface Pace {
  /** Requests that may leave within any `windowMs`. */
  burst: number;
  windowMs: number;
  /** Between two slots, in ms. */
  intervalMs: number;
  /** A slot missed by more is not used. */
  graceMs: number;
}

/**
 * How late a slot may be used, in ms for each second between slots. They stand further apart by the same amount, so
 * that whatever is sent that late, by whichever worker, no second sees more than the rate, or the next whole number: n
 * slots in 1000 + JITTER_MS make at most n in any second.
 */
const JITTER_MS = 50;

/** From this rate on a worker is busier parsing than waiting, and would miss most of its slots by more than that. */
const FAST_RPS = 500;

const FAST_JITTER_MS = 500;

/** A site that asks for more than this is asked at this pace, else one page could hold a worker for hours. */
const MAX_CRAWL_DELAY_MS = 120_000;

/** Longest pause behind what a worker reserves, in ms; at most a twentieth of it. */
const GAP_MS = 200;

/** The same for a worker that has no connection yet: what it takes to make one far away. */
const COLD_GAP_MS = 250;

/**
 * Time to reserve for `count` requests, in ms. Behind their slots it leaves a gap, since they may leave late, while the
 * first of the next worker are on time.
 * @param cold there is no connection to the host yet, so the first request certainly leaves late
 */
export function reservedMs(count: number, pace: Pace, cold: boolean): number {
  return count * pace.intervalMs + gapMs(count, pace, cold);
}

/** Time left free behind the slots of a reservation, in ms. */
function gapMs(count: number, { intervalMs, graceMs }: Pace, cold: boolean): number {
  // at a pace with that much grace the slots have room enough
  return cold && graceMs < COLD_GAP_MS ? COLD_GAP_MS : Math.min(GAP_MS, (count * intervalMs) / 20);
}

/**
 * How late a request may leave, in ms after its slot, so that it and the first ones of the next worker keep to the
 * pace: the gap, and what slots stand further apart than they must.
 */
export function longestDelayMs(count: number, pace: Pace, cold: boolean): number {
  return pace.burst * pace.intervalMs - pace.windowMs + gapMs(count, pace, cold);
}
