/** Search results as text for a terminal: title, address, and the text around the matched words, wrapped. */
import { columnsOf, ellipsize, harmless, type Terminal } from "./terminal.ts";

export interface SearchResult {
  url: string;
  title: string | null;
  content: string;
  score: number;
  section_header: string | null;
  /** Ranges of characters in `content`, in order: start, and the end that is no longer in it. */
  highlights: [number, number][] | null;
  vector_score?: number | null;
  keyword_score?: number | null;
  rerank_score?: number | null;
  /** Without what `content` holds; null unless asked for, as those below. */
  expanded_chunks?: string[] | null;
  explanation?: { vector_rank: number | null; keyword_rank: number | null } | null;
  duplicates?: { url: string; similarity: number }[] | null;
}

/** How many passages were counted, whether these are all that match, and the values of each facet. */
export interface Facets extends Readonly<Record<string, unknown>> {
  counted: number;
  exact: boolean;
}

const SNIPPET_LINES = 4;
const INDENT = "   ";

export function showResult(terminal: Terminal, rank: number, result: SearchResult): void {
  const { url, title, section_header: section, score } = result;
  const number = `${rank}. `.padEnd(INDENT.length);
  const columns = terminal.width - INDENT.length;
  const scoreText = score.toFixed(4);
  const titleColumns = terminal.width - columnsOf(number) - columnsOf(scoreText) - 2;
  const shownTitle = ellipsize(harmless(title ?? url), titleColumns);
  const gap = " ".repeat(titleColumns - columnsOf(shownTitle) + 2);
  terminal.line(number + terminal.bold(shownTitle) + gap + terminal.dim(scoreText));
  const place = section ? `${url} › ${section}` : url;
  terminal.line(INDENT + terminal.dim(ellipsize(harmless(place), columns)));
  for (const line of snippet(result, columns)) {
    terminal.line(INDENT + line.map(({ text, matched }) => (matched ? terminal.highlight(text) : text)).join(""));
  }
  for (const line of details(result)) terminal.line(INDENT + terminal.dim(ellipsize(harmless(line), columns)));
  terminal.line();
}

/** What was asked for beside the text. */
function details(result: SearchResult): string[] {
  const { explanation, expanded_chunks: beside, duplicates, rerank_score: reranked } = result;
  const lines = (beside ?? []).map((text) => `… ${text.replaceAll(/\s+/g, " ")}`);
  if (explanation) {
    const sides = [
      ["meaning", explanation.vector_rank, result.vector_score] as const,
      ["words", explanation.keyword_rank, result.keyword_score] as const,
    ];
    const ranks = sides.map(([side, rank, score]) =>
      rank === null ? `${side}: none` : `${side}: rank ${rank} (${score?.toFixed(4)})`,
    );
    lines.push([...ranks, ...(reranked == null ? [] : [`reranker: ${reranked.toFixed(4)}`])].join(", "));
  }
  return [...lines, ...(duplicates ?? []).map(({ url, similarity }) => `= ${similarity.toFixed(2)} ${url}`)];
}

/** A line for each facet that was asked for. */
export function showFacets(terminal: Terminal, { counted, exact, ...facets }: Facets): void {
  for (const [name, values] of Object.entries(facets)) {
    if (!Array.isArray(values)) continue;
    const counts = (values as { value: string | null; count: number }[]).map(
      ({ value, count }) => `${value ?? "(none)"} ${count}`,
    );
    terminal.line(`${terminal.bold(name)}: ${harmless(counts.join(", "))}`);
  }
  if (!exact) terminal.line(terminal.dim(`Of the first ${counted} passages`));
}

export interface Piece {
  text: string;
  matched: boolean;
}

/** The lines of the text that hold most of the matches, at most four. */
export function snippet(
  { content, highlights }: Pick<SearchResult, "content" | "highlights">,
  columns: number,
): Piece[][] {
  const words = wordsOf(harmless(content), highlights ?? []);
  const lines = wrap(words, columns);
  const first = densestWindow(
    lines.map((line) => line.filter((word) => word.pieces.some((piece) => piece.matched)).length),
  );
  const shown = lines.slice(first, first + SNIPPET_LINES);
  const cut = first + SNIPPET_LINES < lines.length;
  return shown.map((line, index) => joinWords(line, cut && index === shown.length - 1, columns));
}

interface Word {
  pieces: Piece[];
  columns: number;
}

/** Words between spaces, each split where a highlight begins or ends. */
function wordsOf(text: string, highlights: readonly [number, number][]): Word[] {
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => {
    const bounds = new Set([0, word.length]);
    for (const bound of highlights.flat()) {
      if (bound > index && bound < index + word.length) bounds.add(bound - index);
    }
    const cuts = [...bounds].sort((a, b) => a - b);
    const pieces = cuts.slice(0, -1).map((from, at) => {
      const position = index + from;
      const matched = highlights.some(([start, end]) => start <= position && position < end);
      return { text: word.slice(from, cuts[at + 1]), matched };
    });
    return { pieces, columns: columnsOf(word) };
  });
}

function wrap(words: readonly Word[], columns: number): Word[][] {
  const lines: Word[][] = [];
  let used = Infinity;
  for (const word of words) {
    if (used + 1 + word.columns > columns) {
      lines.push([]);
      used = -1;
    }
    lines.at(-1)?.push(word);
    used += 1 + word.columns;
  }
  return lines;
}

/** The first line of the window with the most matches. */
function densestWindow(matches: readonly number[]): number {
  let best = 0;
  let bestCount = 0;
  for (let first = 0; first < matches.length; first += 1) {
    const count = matches.slice(first, first + SNIPPET_LINES).reduce((sum, each) => sum + each, 0);
    if (count > bestCount) [best, bestCount] = [first, count];
  }
  return best;
}

function joinWords(line: readonly Word[], cut: boolean, columns: number): Piece[] {
  const pieces = line.flatMap((word, index) =>
    index === 0 ? word.pieces : [{ text: " ", matched: false }, ...word.pieces],
  );
  const used = pieces.reduce((sum, { text }) => sum + columnsOf(text), 0);
  // a single word may be longer than the line
  if (used > columns) return [{ text: ellipsize(pieces.map(({ text }) => text).join(""), columns), matched: false }];
  return cut && used + 2 <= columns ? [...pieces, { text: " …", matched: false }] : pieces;
}
