/**
 * How much less than a core of its own a test has at the moment: for bounds that hold on a machine with time for it.
 */

const ROUNDS = 20_000_000;
/** What these take on one core of 2023, in ms. */
const FREE_MS = 45;

/** 1 on a free machine, 5 where everything takes five times as long. */
export function slowness(): number {
  return Math.max(1, calculationMs() / FREE_MS);
}

function calculationMs(): number {
  const started = performance.now();
  let state = 1;
  for (let round = 0; round < ROUNDS; round += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  // used, so that it is computed
  return performance.now() - started + (state === 0 ? 1 : 0);
}
