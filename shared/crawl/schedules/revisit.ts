/**
 * How long a source that is revisited adaptively is left alone: half as long as before after a visit that found a
 * change, and half as long again after one that found none. Intervals shrink faster than they grow: a change that is
 * seen late costs more than a visit that finds nothing.
 */

/** Bounds, in hours. */
export interface Revisit {
  shortest_hours: number;
  longest_hours: number;
}

const FASTER = 0.5;
const SLOWER = 1.5;

/**
 * @param hours what it was before; null before the first visit that could be compared
 * @param found whether the visit found a page changed or new; null where nothing could be compared
 * @returns hours, within the bounds
 */
export function nextInterval(bounds: Revisit, hours: number | null, found: "change" | "none" | null): number {
  const before = within(bounds, hours ?? bounds.shortest_hours);
  if (found === null) return before;
  return within(bounds, before * (found === "change" ? FASTER : SLOWER));
}

const within = ({ shortest_hours, longest_hours }: Revisit, hours: number): number =>
  Math.min(longest_hours, Math.max(shortest_hours, hours));
