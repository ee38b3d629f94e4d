/**
 * The shortest way from one list of lines to another, or one that is nearly as short: lines that both have once hold
 * the two together (patience diff), and between them Myers' algorithm goes as far as its bound.
 */

export interface Step {
  /** Of the line in the first list; null for one that was added. */
  from: number | null;
  /** Of the line in the second list; null for one that was removed. */
  to: number | null;
}

/** Differences of a stretch without a common unique line; beyond, all of it counts as replaced. */
const MOST_DIFFERENCES = 400;

/** In the order of the lists; what is removed stands before what is added in its place. */
export function diffLines(from: readonly string[], to: readonly string[]): Step[] {
  const steps: Step[] = [];
  // a stack instead of recursion: stretches are many in long pages
  const anchors = [...uniqueInBoth(from, to), { from: from.length, to: to.length }];
  let a = 0;
  let b = 0;
  for (const anchor of anchors) {
    between(from, to, { a, b, endA: anchor.from, endB: anchor.to }, steps);
    if (anchor.from < from.length && anchor.to < to.length) steps.push({ from: anchor.from, to: anchor.to });
    a = anchor.from + 1;
    b = anchor.to + 1;
  }
  return steps;
}

/** Pairs of lines that each list has once, as many as stand in one order in both. */
function uniqueInBoth(from: readonly string[], to: readonly string[]): { from: number; to: number }[] {
  const placeOf = onlyPlaces(from);
  const inTo = onlyPlaces(to);
  const pairs = [...inTo].flatMap(([line, at]) => {
    const place = placeOf.get(line);
    return place === undefined || place < 0 || at < 0 ? [] : [{ from: place, to: at }];
  });
  return longestRising(pairs);
}

/** Where each line stands; -1 for one that stands in several places. */
function onlyPlaces(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  lines.forEach((line, at) => {
    places.set(line, places.has(line) ? -1 : at);
  });
  return places;
}

/** The longest subsequence that rises in `from`, of pairs that rise in `to`. */
function longestRising(pairs: readonly { from: number; to: number }[]): { from: number; to: number }[] {
  const ends: number[] = [];
  const before: number[] = [];
  pairs.forEach(({ from }, index) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] as number] as { from: number }).from < from) low = middle + 1;
      else high = middle;
    }
    before[index] = low === 0 ? -1 : (ends[low - 1] as number);
    ends[low] = index;
  });
  const rising: { from: number; to: number }[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] as number) rising.push(pairs[at] as (typeof pairs)[number]);
  return rising.reverse();
}

interface Stretch {
  a: number;
  b: number;
  endA: number;
  endB: number;
}

function between(from: readonly string[], to: readonly string[], stretch: Stretch, steps: Step[]): void {
  let { a, b, endA, endB } = stretch;
  while (a < endA && b < endB && from[a] === to[b]) steps.push({ from: a++, to: b++ });
  const tail: Step[] = [];
  while (endA > a && endB > b && from[endA - 1] === to[endB - 1]) tail.push({ from: --endA, to: --endB });
  for (const step of myers(from, to, { a, b, endA, endB }) ?? replaced({ a, b, endA, endB })) steps.push(step);
  while (tail.length > 0) steps.push(tail.pop() as Step);
}

function replaced({ a, b, endA, endB }: Stretch): Step[] {
  const removed = Array.from({ length: endA - a }, (_, i) => ({ from: a + i, to: null }));
  return [...removed, ...Array.from({ length: endB - b }, (_, i) => ({ from: null, to: b + i }))];
}

/**
 * E. W. Myers, An O(ND) Difference Algorithm and Its Variations (1986).
 * @returns undefined where there are too many differences
 */
function myers(from: readonly string[], to: readonly string[], { a, b, endA, endB }: Stretch): Step[] | undefined {
  const n = endA - a;
  const m = endB - b;
  if (n === 0 || m === 0) return replaced({ a, b, endA, endB });
  const most = Math.min(n + m, MOST_DIFFERENCES);
  const furthest = new Int32Array(2 * most + 3);
  const at = (k: number): number => furthest[k + most + 1] as number;
  const trace: Int32Array[] = [];
  for (let d = 0; d <= most; d++) {
    trace.push(furthest.slice());
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      let y = x - k;
      while (x < n && y < m && from[a + x] === to[b + y]) {
        x++;
        y++;
      }
      furthest[k + most + 1] = x;
      if (x >= n && y >= m) return backwards(trace, most, { a, b, n, m });
    }
  }
  return undefined;
}

function backwards(
  trace: readonly Int32Array[],
  most: number,
  { a, b, n, m }: { a: number; b: number; n: number; m: number },
): Step[] {
  const steps: Step[] = [];
  let x = n;
  let y = m;
  for (let d = trace.length - 1; d >= 0; d--) {
    const furthest = trace[d] as Int32Array;
    const at = (k: number): number => furthest[k + most + 1] as number;
    const k = x - y;
    const isAdded = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const beforeX = d === 0 ? 0 : isAdded ? at(k + 1) : at(k - 1);
    const beforeY = d === 0 ? 0 : beforeX - (isAdded ? k + 1 : k - 1);
    while (x > beforeX && y > beforeY) steps.push({ from: a + --x, to: b + --y });
    if (d === 0) break;
    if (isAdded) steps.push({ from: null, to: b + --y });
    else steps.push({ from: a + --x, to: null });
  }
  return steps.reverse();
}
