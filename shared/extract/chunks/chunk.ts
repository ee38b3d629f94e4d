/** Cuts a document's text into chunks that an embedder can read, along the text's own boundaries. */

import type { Block, Chunk, Extraction, Section } from "../extraction.ts";
import { BOUNDARY, type Boundaries, type Boundary, boundariesOf } from "./boundaries.ts";

/** All in tokens, by `estimateTokens`. */
export interface ChunkLimits {
  /** No chunk is longer; at least 24, since a single word may have half of that. */
  size: number;
  /** How much a chunk repeats of the one before when the cut fell inside a section; half of `size` at the most. */
  overlap: number;
  /** A shorter chunk joins its neighbour where that stays within `size`. */
  minimum: number;
  /** Chunks, not tokens: the text behind the last one has none. Left out: as many as there are. */
  most?: number;
}

/** What a cut is worth beside the fill it gives, which counts 0 to `FILL_WORTH`. */
const WORTH: Record<Boundary, number> = {
  [BOUNDARY.section]: 3,
  [BOUNDARY.block]: 2.2,
  [BOUNDARY.paragraph]: 2,
  [BOUNDARY.line]: 1.6,
  [BOUNDARY.sentence]: 1.5,
  [BOUNDARY.row]: 1.2,
  [BOUNDARY.word]: 0.6,
  [BOUNDARY.inside]: 0.3,
  [BOUNDARY.character]: 0,
  [BOUNDARY.unwanted]: -5,
};
const FILL_WORTH = 2;
const BELOW_MINIMUM = -2;

/**
 * Cuts a text into chunks, in order; each one is an exact range of `text` without white space around it. Cuts prefer
 * the start of a section, then blocks, paragraphs, lines, sentences, words; a code block or table row is cut only if it
 * alone is longer than `size`. White-space-only text has no chunks.
 * @throws RangeError for limits that no text could meet.
 * @example
 * const extraction = { text: "One two three. ".repeat(20).trim(), sections: [], blocks: [] };
 * const chunks = chunkText(extraction, { size: 40, overlap: 0, minimum: 10 });
 * chunks.every(({ content, startChar, endChar }) => extraction.text.slice(startChar, endChar) === content) // => true
 * chunks.every(({ tokenCount }) => tokenCount <= 40) // => true
 */
export function chunkText(extraction: Pick<Extraction, "text" | "sections" | "blocks">, limits: ChunkLimits): Chunk[] {
  if (!(limits.size >= 24) || !(limits.overlap >= 0) || !(limits.minimum >= 0)) {
    throw new RangeError("Chunk limits need a size of at least 24 tokens and no negative overlap or minimum");
  }
  const boundaries = boundariesOf(extraction, limits.size);
  const describe = describer(extraction);
  const chunks: Chunk[] = [];
  let first = 0;
  let covered = -1;
  const { most = Number.POSITIVE_INFINITY } = limits;
  while (covered < boundaries.count - 1 && chunks.length < most) {
    const last = chooseCut(boundaries, first, covered + 1, limits);
    const startChar = boundaries.startOf(first);
    const endChar = boundaries.endOf(last);
    chunks.push({
      index: chunks.length,
      content: extraction.text.slice(startChar, endChar),
      startChar,
      endChar,
      tokenCount: Math.max(1, Math.ceil(boundaries.tokens(first, last))),
      ...describe(startChar, endChar),
    });
    covered = last;
    first = nextStart(boundaries, first, last, limits);
  }
  return chunks;
}

/** Index of the chunk's last piece: the best boundary that `size` allows, at or after `from`. */
function chooseCut(boundaries: Boundaries, first: number, from: number, { size, minimum }: ChunkLimits): number {
  const end = boundaries.count - 1;
  if (boundaries.tokens(first, end) <= size) return end;
  let best = from;
  let bestWorth = Number.NEGATIVE_INFINITY;
  for (let last = from; last < end; last++) {
    const tokens = boundaries.tokens(first, last);
    if (tokens > size && last > from) break;
    // Whatever is cut off must be worth a chunk of its own.
    if (last > from && boundaries.tokens(last + 1, end) < minimum) break;
    const boundary = boundaries.boundaryAfter(last);
    // A section that still fits whole stays with what stands before it.
    const worth =
      (boundary === BOUNDARY.section &&
      tokens < size / 2 &&
      boundaries.tokens(first, boundaries.sectionEnd(last + 1)) <= size
        ? WORTH[BOUNDARY.paragraph]
        : WORTH[boundary]) +
      (FILL_WORTH * tokens) / size +
      (tokens < minimum ? BELOW_MINIMUM : 0);
    if (worth >= bestWorth) {
      bestWorth = worth;
      best = last;
    }
  }
  return best;
}

/** First piece of the next chunk: after the cut, or up to `overlap` tokens before it where prose goes on. */
function nextStart(boundaries: Boundaries, first: number, last: number, { size, overlap }: ChunkLimits): number {
  const next = last + 1;
  if (overlap === 0 || next >= boundaries.count || !boundaries.flowsOn(last)) return next;
  const allowed = Math.min(overlap, size / 2);
  let start = next;
  let word = next;
  for (let index = last; index > first && boundaries.tokens(index, last) <= allowed; index--) {
    const boundary = boundaries.boundaryAfter(index - 1);
    if (
      boundary === BOUNDARY.section ||
      boundary === BOUNDARY.block ||
      boundary === BOUNDARY.row ||
      boundary === BOUNDARY.unwanted
    )
      break;
    if (boundary === BOUNDARY.sentence || boundary === BOUNDARY.line || boundary === BOUNDARY.paragraph) start = index;
    else if (boundary === BOUNDARY.word) word = index;
  }
  return start < next ? start : word;
}

type Description = Pick<Chunk, "contentType" | "sectionHeader" | "section">;

/** Answers for ranges whose starts never go back by much: both cursors only follow. */
function describer({ sections, blocks }: { sections: Section[]; blocks: Block[] }) {
  let section = 0;
  let block = 0;
  return (start: number, end: number): Description => {
    while (section > 0 && (sections[section]?.start ?? 0) > start) section--;
    while (section + 1 < sections.length && (sections[section + 1]?.start ?? 0) <= start) section++;
    while (block > 0 && (blocks[block - 1]?.end ?? 0) > start) block--;
    while (block + 1 < blocks.length && (blocks[block]?.end ?? 0) <= start) block++;
    const lengths: Record<Block["kind"], number> = { prose: 0, code: 0, table: 0, list: 0 };
    for (let index = block; index < blocks.length; index++) {
      const { kind, start: from, end: to } = blocks[index] as Block;
      if (from >= end) break;
      lengths[kind] += Math.max(0, Math.min(end, to) - Math.max(start, from));
    }
    let contentType: Block["kind"] = "prose";
    for (const kind of ["code", "table", "list"] as const) {
      if (lengths[kind] > lengths[contentType]) contentType = kind;
    }
    return {
      contentType,
      sectionHeader: sections[section]?.heading ?? null,
      section: section < sections.length ? section : null,
    };
  };
}
