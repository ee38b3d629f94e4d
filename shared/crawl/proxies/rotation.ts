/** Which server of a proxy config is asked next. */

export const ROTATION_STRATEGIES = ["round_robin", "least_used", "random"] as const;
export type RotationStrategy = (typeof ROTATION_STRATEGIES)[number];

export interface ServerUse {
  /** Tasks of this hour that went through it. */
  uses: number;
  /** In a row. */
  failures: number;
  /** Epoch ms until which it is avoided, since it failed. */
  downUntil: number;
}

const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 600_000;

/** How long a server is avoided that failed so often in a row, in ms. */
export function pauseAfter(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (Math.max(1, failures) - 1));
}

/**
 * Servers that failed lately come last, the one that has rested longest before the others: better asked than none.
 * @param rotationIndex tasks before this one, for `round_robin`
 * @param tried indexes that are out of the question
 * @param random 0 to 1
 * @returns an index, or undefined where all were tried
 */
export function chooseServer(
  strategy: RotationStrategy,
  servers: readonly ServerUse[],
  {
    rotationIndex,
    tried,
    now,
    random,
  }: { rotationIndex: number; tried: ReadonlySet<number>; now: number; random: number },
): number | undefined {
  const left = servers.map((use, index) => ({ ...use, index })).filter(({ index }) => !tried.has(index));
  const healthy = left.filter(({ downUntil }) => downUntil <= now);
  if (healthy.length === 0) return left.toSorted((a, b) => a.downUntil - b.downUntil)[0]?.index;
  switch (strategy) {
    case "random":
      return healthy[Math.min(healthy.length - 1, Math.floor(random * healthy.length))]?.index;
    case "least_used":
      return healthy.toSorted((a, b) => a.uses - b.uses)[0]?.index;
    case "round_robin": {
      const first = rotationIndex % servers.length;
      return (healthy.find(({ index }) => index >= first) ?? healthy[0])?.index;
    }
  }
}
