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
}

const SNIPPET_LINES = 4;
const INDENT = "   ";

export function showResult(terminal: Terminal, rank: number, result: SearchResult): void {
  const { url, title, section_header: section, score } = result;
  const number = `${rank}. `.padEnd(INDENT.length);
  const scoreText = score.toFixed(4);
  const titleColumns = terminal.width - columnsOf(number) - columnsOf(scoreText) - 2;
  const shownTitle = ellipsize(harmless(title ?? url), titleColumns);
  const gap = " ".repeat(titleColumns - columnsOf(shownTitle) + 2);
  terminal.line(number + terminal.bold(shownTitle) + gap + terminal.dim(scoreText));
  const place = section ? `${url} › ${section}` : url;
  terminal.line(INDENT + terminal.dim(ellipsize(harmless(place), terminal.width - INDENT.length)));
  for (const line of snippet(result, terminal.width - INDENT.length)) {
    terminal.line(INDENT + line.map(({ text, matched }) => (matched ? terminal.highlight(text) : text)).join(""));
  }
  terminal.line();
}

export interface Piece {
  text: string;
  matched: boolean;
}

/** The lines of the text that hold most of the matches, at most four. */
export function snippet({ content, highlights }: SearchResult, columns: number): Piece[][] {
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
