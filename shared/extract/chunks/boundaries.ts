/** Finds where a text may be cut: its token pieces, and how good a cut after each of them is. */
import type { Extraction } from "../extraction.ts";
import { piecesOf } from "./tokens.ts";

/** `inside` is a line of a code block too long for one chunk; `unwanted` breaks a code block or row that would fit. */
export const BOUNDARY = {
  section: 0,
  block: 1,
  paragraph: 2,
  line: 3,
  sentence: 4,
  row: 5,
  word: 6,
  inside: 7,
  character: 8,
  unwanted: 9,
} as const;

export type Boundary = (typeof BOUNDARY)[keyof typeof BOUNDARY];

/** Valid until those of the next text are asked for. */
export interface Boundaries {
  /** Number of pieces. */
  count: number;
  startOf(piece: number): number;
  endOf(piece: number): number;
  /** Tokens of the pieces `first` to `last`, both included. */
  tokens(first: number, last: number): number;
  boundaryAfter(piece: number): Boundary;
  /** Last piece of the section that holds this piece. */
  sectionEnd(piece: number): number;
  /** True where the text after this piece continues the same section, in prose or a list. */
  flowsOn(piece: number): boolean;
}

/**
 * Rates every place where the text may be cut.
 * @param size in tokens; decides which code blocks and rows are worth keeping whole
 */
export function boundariesOf(
  { text, sections, blocks }: Pick<Extraction, "text" | "sections" | "blocks">,
  size: number,
): Boundaries {
  const { count, starts, ends, before, after } = piecesOf(text);
  const tokens = (first: number, last: number): number => (after[last] ?? 0) - (before[first] ?? 0);
  const boundaries = new Uint8Array(count) as { [piece: number]: Boundary };
  const sectionEnds = new Int32Array(count);
  const flows = new Uint8Array(count);

  markSectionEnds();
  const words = wordEnds(text);
  for (let piece = 0; piece < count; piece++) flows[piece] = sectionEnds[piece] === piece ? 0 : 1;
  for (let piece = 0; piece < count; piece++) {
    boundaries[piece] =
      sectionEnds[piece] === piece || piece + 1 === count
        ? BOUNDARY.section
        : plainBoundary(text, ends[piece] as number, starts[piece + 1] as number);
  }
  for (let piece = 0; words.size > 0 && piece < count; piece++) {
    if (boundaries[piece] === BOUNDARY.character && words.has(ends[piece] as number)) boundaries[piece] = BOUNDARY.word;
  }
  markHeadings();
  markBlocks();
  return {
    count,
    startOf: (piece) => lineStart(piece),
    endOf: (piece) => ends[piece] as number,
    tokens,
    boundaryAfter: (piece) => boundaries[piece] as Boundary,
    sectionEnd: (piece) => sectionEnds[piece] as number,
    flowsOn: (piece) => flows[piece] === 1,
  };

  function markSectionEnds(): void {
    let section = 0;
    let from = 0;
    for (let piece = 0; piece <= count; piece++) {
      const next = sections[section + 1];
      if (piece < count && (next === undefined || (starts[piece] as number) < next.start)) continue;
      for (let index = from; index < piece; index++) sectionEnds[index] = piece - 1;
      from = piece;
      while (piece < count && (sections[section + 1]?.start ?? Number.POSITIVE_INFINITY) <= (starts[piece] as number)) {
        section++;
      }
    }
  }

  /** A heading is not left behind at the end of a chunk. */
  function markHeadings(): void {
    let piece = 0;
    for (const { heading, start } of sections) {
      if (heading === null) continue;
      const end = start + heading.length;
      while (piece < count && (ends[piece] as number) <= start) piece++;
      for (; piece < count && (ends[piece] as number) <= end; piece++) {
        if (boundaries[piece] !== BOUNDARY.section && boundaries[piece] !== BOUNDARY.character)
          boundaries[piece] = BOUNDARY.inside;
      }
    }
  }

  function markBlocks(): void {
    let piece = 0;
    for (const { kind, start, end } of blocks) {
      while (piece < count && (starts[piece] as number) < start) piece++;
      const first = piece;
      while (piece < count && (starts[piece] as number) < end) piece++;
      const last = piece - 1;
      if (last < first) continue;
      if (boundaries[last] !== BOUNDARY.section && boundaries[last] !== BOUNDARY.inside)
        boundaries[last] = BOUNDARY.block;
      if (kind === "code") {
        const whole = tokens(first, last) <= size;
        for (let index = first; index < last; index++) {
          flows[index] = 0;
          boundaries[index] = whole ? BOUNDARY.unwanted : insideCode(boundaries[index] as Boundary);
        }
      } else if (kind === "table") markRows(first, last);
    }
  }

  function markRows(first: number, last: number): void {
    let rowStart = first;
    for (let index = first; index <= last; index++) {
      flows[index] = 0;
      const rowEnds = index === last || text.slice(ends[index], starts[index + 1]).includes("\n");
      if (!rowEnds) continue;
      const whole = tokens(rowStart, index) <= size;
      for (let inner = rowStart; inner < index; inner++) {
        boundaries[inner] = whole ? BOUNDARY.unwanted : insideCode(boundaries[inner] as Boundary);
      }
      if (index < last) boundaries[index] = BOUNDARY.row;
      rowStart = index + 1;
    }
  }

  /** Code that starts a chunk keeps its indentation. */
  function lineStart(piece: number): number {
    const start = starts[piece] as number;
    const from = piece === 0 ? 0 : (ends[piece - 1] as number);
    // only in the gap: the last newline of the text may be millions of characters back
    const newline = text.slice(from, start).lastIndexOf("\n");
    const indent = newline >= 0 ? from + newline + 1 : piece === 0 ? 0 : start;
    if (indent === start || !/^[ \t]+$/.test(text.slice(indent, start))) return start;
    return indent;
  }
}

function insideCode(boundary: Boundary): Boundary {
  if (boundary === BOUNDARY.paragraph || boundary === BOUNDARY.line) return BOUNDARY.row;
  return boundary === BOUNDARY.character ? BOUNDARY.character : BOUNDARY.inside;
}

const SENTENCE_ENDS = new Set(Array.from(".!?…。！？．؟।", (mark) => mark.charCodeAt(0)));
const CLOSERS = new Set(Array.from(")]\"'»”’」』", (mark) => mark.charCodeAt(0)));
/** Closing marks that may stand behind the end of a sentence. */
const MAX_CLOSERS = 3;

function plainBoundary(text: string, end: number, next: number): Boundary {
  if (next === end) {
    if (isWithinCharacter(text, end)) return BOUNDARY.unwanted;
    return /[。！？]/.test(text.charAt(end - 1)) ? BOUNDARY.sentence : BOUNDARY.character;
  }
  let newlines = 0;
  for (let index = end; index < next; index++) if (text.charCodeAt(index) === 10) newlines++;
  if (newlines > 0) return newlines > 1 ? BOUNDARY.paragraph : BOUNDARY.line;
  return endsSentence(text, end) ? BOUNDARY.sentence : BOUNDARY.word;
}

const JOINS_BEFORE = /^(?:\p{M}|\u200d|[\u{1f3fb}-\u{1f3ff}]|[\u{e0020}-\u{e007f}])/u;
const REGIONAL = /^\p{Regional_Indicator}/u;
/** Flags that are looked back at, in code units of their letters. */
const MAX_FLAGS = 200;

/** Whether a reader sees one character across the place: an emoji of several, a flag, a letter with its marks. */
function isWithinCharacter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 0x300) return false;
  const after = text.slice(at, at + 2);
  if (JOINS_BEFORE.test(after) || text.charCodeAt(at - 1) === 0x200d) return true;
  if (!REGIONAL.test(after)) return false;
  let letters = 0;
  for (
    let from = at - 2;
    from >= 0 && letters * 2 < MAX_FLAGS && REGIONAL.test(text.slice(from, from + 2));
    from -= 2
  ) {
    letters++;
  }
  return letters % 2 === 1;
}

/** Runs of scripts whose words only a dictionary tells apart. */
const UNSPACED_RUN = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]{2,}/gu;
let segmenter: Intl.Segmenter | undefined;

/** @returns where words end in text without spaces, as offsets */
function wordEnds(text: string): Set<number> {
  const ends = new Set<number>();
  for (const { 0: run, index } of text.matchAll(UNSPACED_RUN)) {
    segmenter ??= new Intl.Segmenter("und", { granularity: "word" });
    for (const { index: start, segment } of segmenter.segment(run)) ends.add(index + start + segment.length);
  }
  return ends;
}

function endsSentence(text: string, end: number): boolean {
  let index = end - 1;
  while (index > 0 && end - index <= MAX_CLOSERS && CLOSERS.has(text.charCodeAt(index))) index--;
  return SENTENCE_ENDS.has(text.charCodeAt(index));
}
