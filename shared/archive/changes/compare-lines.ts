/** Compares two texts of one page: what was added and removed, however its blocks were arranged anew. */
import { shorten } from "../../platform/text.ts";
import { diffLines } from "./line-diff.ts";
import type { Line, PageLines } from "./page-lines.ts";

/** Of what normalises and compares: events of an earlier one are computed anew. */
export const CHANGES_VERSION = 1;

/** `=` in both, `+` added, `-` removed, `>` moved: shown where it stands in the later text. */
export type HunkLine = readonly ["=" | "+" | "-" | ">", string];

/** A stretch with differences, and the lines around it. */
export interface Hunk {
  /** First line of it, from 1. */
  from: number;
  to: number;
  lines: readonly HunkLine[];
}

export interface Difference {
  addedSections: number;
  removedSections: number;
  changedSections: number;
  addedLines: number;
  removedLines: number;
  /** Lines that changed, of all lines of both: 0 to 1. */
  changeRatio: number;
  /** So much changed that it is hardly an edit: another layout, or another page. */
  highNoise: boolean;
  hunks: readonly Hunk[];
  /** Whether there is more than `hunks` hold; the counts are of all. */
  isCut: boolean;
}

/** Lines around differences. */
const CONTEXT = 3;
const MOST_LINES = 2_000;
const LONGEST_LINE = 2_000;
/** UTF-16 code units of all lines. */
const MOST_TEXT = 300_000;

const NOISY_RATIO = 0.5;
const NOISY_LINES = 10;

export function compareLines(from: PageLines, to: PageLines): Difference {
  const before = from.lines.map(keyOf);
  const after = to.lines.map(keyOf);
  const removed = without(before, after);
  const added = without(after, before);
  const addedLines = sumOf(added);
  const removedLines = sumOf(removed);
  const all = before.length + after.length;
  const changeRatio = all === 0 ? 0 : Math.round((10_000 * (addedLines + removedLines)) / all) / 10_000;
  const isSame = addedLines + removedLines === 0;
  return {
    ...(isSame ? { addedSections: 0, removedSections: 0, changedSections: 0 } : compareSections(from, to)),
    addedLines,
    removedLines,
    changeRatio,
    highNoise: changeRatio >= NOISY_RATIO && addedLines + removedLines >= NOISY_LINES,
    ...(isSame ? { hunks: [], isCut: false } : hunksOf(from.lines, to.lines, { before, after, added, removed })),
  };
}

const keyOf = ({ heading, key }: Line): string => `${heading}\n${key}`;

/** How often each key stands in the first list beyond the second. */
function without(keys: readonly string[], others: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const key of others) {
    const count = counts.get(key);
    if (count === 1) counts.delete(key);
    else if (count !== undefined) counts.set(key, count - 1);
  }
  return counts;
}

const sumOf = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, each) => sum + each, 0);

/** Sections of one heading belong together: first those that say the same, then in their order. */
function compareSections(
  from: PageLines,
  to: PageLines,
): Pick<Difference, "addedSections" | "removedSections" | "changedSections"> {
  const contents = ({ sections }: PageLines): Map<string, string[]> => {
    const byHeading = new Map<string, string[]>();
    for (const { heading, lines } of sections) {
      if (lines.length === 0) continue;
      const content = lines
        .map(({ key }) => key)
        .sort()
        .join("\n");
      byHeading.set(heading, [...(byHeading.get(heading) ?? []), content]);
    }
    return byHeading;
  };
  const before = contents(from);
  const after = contents(to);
  const counts = { addedSections: 0, removedSections: 0, changedSections: 0 };
  for (const heading of new Set([...before.keys(), ...after.keys()])) {
    const [old, young] = [before.get(heading) ?? [], after.get(heading) ?? []];
    const gone = sumOf(without(old, young));
    const come = sumOf(without(young, old));
    counts.changedSections += Math.min(gone, come);
    counts.addedSections += Math.max(0, come - gone);
    counts.removedSections += Math.max(0, gone - come);
  }
  return counts;
}

interface Keyed {
  before: readonly string[];
  after: readonly string[];
  added: ReadonlyMap<string, number>;
  removed: ReadonlyMap<string, number>;
}

interface ShownLine {
  from: number;
  to: number;
  line: HunkLine;
}

function hunksOf(
  from: readonly Line[],
  to: readonly Line[],
  { before, after, added, removed }: Keyed,
): { hunks: Hunk[]; isCut: boolean } {
  const newHere = new Map(added);
  const goneHere = new Map(removed);
  const shown: ShownLine[] = [];
  let [a, b] = [0, 0];
  for (const step of diffLines(before, after)) {
    const place = { from: (step.from ?? a) + 1, to: (step.to ?? b) + 1 };
    if (step.to === null) {
      a = (step.from as number) + 1;
      // one that only moved is shown where it stands now
      if (taken(goneHere, before[step.from as number] as string)) {
        shown.push({ ...place, line: ["-", shownText(from[step.from as number])] });
      }
      continue;
    }
    b = step.to + 1;
    const text = shownText(to[step.to]);
    if (step.from !== null) {
      a = step.from + 1;
      shown.push({ ...place, line: ["=", text] });
    } else shown.push({ ...place, line: [taken(newHere, after[step.to] as string) ? "+" : ">", text] });
  }
  return cutHunks(inHunks(shown));
}

const shownText = (line: Line | undefined): string => shorten(line?.text ?? "", LONGEST_LINE);

function taken(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0;
  if (count > 0) counts.set(key, count - 1);
  return count > 0;
}

function inHunks(shown: readonly ShownLine[]): Hunk[] {
  const changes = shown.flatMap(({ line }, at) => (line[0] === "+" || line[0] === "-" ? [at] : []));
  const hunks: Hunk[] = [];
  for (let i = 0; i < changes.length; ) {
    const first = Math.max(0, (changes[i] as number) - CONTEXT);
    let last = changes[i] as number;
    while (i < changes.length && (changes[i] as number) - last <= 2 * CONTEXT) last = changes[i++] as number;
    const lines = shown.slice(first, last + CONTEXT + 1);
    hunks.push({ from: lines[0]?.from ?? 1, to: lines[0]?.to ?? 1, lines: lines.map(({ line }) => line) });
  }
  return hunks;
}

function cutHunks(hunks: readonly Hunk[]): { hunks: Hunk[]; isCut: boolean } {
  const kept: Hunk[] = [];
  let [lines, text] = [0, 0];
  for (const hunk of hunks) {
    const fitting = hunk.lines.findIndex(([, shown]) => {
      lines++;
      text += shown.length;
      return lines > MOST_LINES || text > MOST_TEXT;
    });
    if (fitting < 0) kept.push(hunk);
    else {
      if (fitting > 0) kept.push({ ...hunk, lines: hunk.lines.slice(0, fitting) });
      return { hunks: kept, isCut: true };
    }
  }
  return { hunks: kept, isCut: false };
}
