/** Cron expressions at random, the same for the same seed. */

export type Random = () => number;

/** Mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const MONTHS = ["JAN", "feb", "Mar", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "dec"];
const WEEKDAYS = ["SUN", "mon", "Tue", "WED", "THU", "FRI", "sat"];

/** Days that every month has, so that each of them fires. */
export function generateCron(random: Random): string {
  const between = (first: number, last: number) => first + Math.floor(random() * (last - first + 1));
  const field = (first: number, last: number, names: readonly string[] = [], stars = 0.4): string => {
    const kind = random();
    const name = (value: number) => (random() < 0.5 ? (names[value - first] ?? `${value}`) : `${value}`);
    if (kind < stars) return "*";
    if (kind < stars + 0.15) return `*/${between(1, Math.min(last, 12))}`;
    const item = () => {
      const from = between(first, last);
      if (random() < 0.5) return name(from);
      const to = between(from, last);
      const [start, end] = [name(from), name(to)];
      // croner takes SUN behind a range for 7
      return `${start}-${to === first ? to : end}${random() < 0.5 ? `/${between(1, 6)}` : ""}`;
    };
    return Array.from({ length: between(1, 3) }, item).join(",");
  };
  return [
    field(0, 59, [], 0.1),
    field(0, 23, [], 0.2),
    field(1, 28),
    field(1, 12, MONTHS, 0.6),
    field(0, 7, WEEKDAYS),
  ].join(" ");
}
