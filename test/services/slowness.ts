/** How much longer anything takes right now because others use the processors too: 1 on a machine that is free. */

/** In ms of processor time: several of the scheduler's slices. */
const SAMPLE_MS = 60;

/**
 * A limit of real time times this is one that a busy machine keeps as well. It keeps the thread for 60 ms of processor
 * time, so call it where nothing is under way.
 */
export function slowness(): number {
  const started = performance.now();
  const cpu = process.cpuUsage();
  let used = 0;
  while (used < SAMPLE_MS) {
    const { user, system } = process.cpuUsage(cpu);
    used = (user + system) / 1_000;
  }
  return Math.max(1, (performance.now() - started) / used);
}
