/** Where a query's words stand in a text, their other forms included. */
import type { Queryable } from "../../platform/database/database.ts";
import { exactWords, isJoiningMark } from "../analysis/exact-words.ts";
import { fold, normalizeText } from "../analysis/folding.ts";
import { EMOJI, isAscii, PAIRED_UNIT, SPACED, THAI } from "../analysis/scripts.ts";
import { isSingleUnit, JOINED_WORDS, segmentsOf } from "../analysis/tokens.ts";
import { type TextToAnalyse, wordsOf } from "../analysis/words.ts";

/** `[start, end)` in UTF-16 code units of the text. */
export type Highlight = [start: number, end: number];

/** What a query marks in texts. */
export interface Marks {
  /** Words that have any of them. */
  lexemes: ReadonlySet<string>;
  /** What is quoted, as `exactWords` gives it: each of its words where they stand in a row, stop words included. */
  phrases: readonly string[];
}

export const NO_MARKS: Marks = { lexemes: new Set(), phrases: [] };

/** Parts of words, as they are found by; each unit of what is read by pairs. Soft hyphens and joiners stand within. */
const PIECE = new RegExp(
  String.raw`(?<paired>${PAIRED_UNIT})|(?<thai>[${THAI}][${THAI}\p{M}]*)|` +
    String.raw`(?<word>(?:${SPACED}|[\u00ad\u200c\u200d])+(?:\+\+|#)?|${EMOJI})`,
  "gv",
);
/** No word is begun within another one: where it does not match, each of its ends would be tried. */
const JOINED = new RegExp(`(?<!${SPACED})${JOINED_WORDS}`, "gv");
const UNIT = new RegExp(PAIRED_UNIT, "yv");

interface Piece {
  piece: string;
  start: number;
  end: number;
  /** Of a script without spaces: it is its own lexeme. */
  whole: boolean;
  /** Where the first unit of a pair ends. */
  firstEnd: number;
}

/**
 * The words of each text of which a lexeme is one of the query's, and those of its phrases. They are analysed as the
 * index did, so a highlight falls on exactly what it matched.
 */
export async function highlight(
  sql: Queryable,
  texts: readonly TextToAnalyse[],
  { lexemes, phrases }: Marks,
): Promise<Highlight[][]> {
  if (lexemes.size + phrases.length === 0) return texts.map(() => []);
  const pieces = texts.map(({ text }) => piecesOf(text));
  const joined = texts.map(({ text }) =>
    [...text.matchAll(JOINED)].map(({ 0: word, index }) => ({ word, start: index })),
  );
  const matching = await matchingWords(sql, texts, pieces, joined, lexemes);
  // the pairs that begin with a single character match it
  const beginnings = new Set([...lexemes].filter(isSingleUnit));
  return pieces.map((found, of) => {
    const words = matching.get(texts[of]?.language ?? "");
    const quoted = piecesOfPhrases(found, phrases);
    const highlights: Highlight[] = [];
    for (const [at, { piece, start, end, whole, firstEnd }] of found.entries()) {
      if (!whole) {
        if (words?.has(piece) || quoted.has(at)) highlights.push([start, end]);
        continue;
      }
      const pair = lexemes.has(fold(normalizeText(piece)));
      if (!pair && !beginnings.has(piece.slice(0, firstEnd - start))) continue;
      const last = highlights.at(-1);
      const until = pair ? end : firstEnd;
      // pairs of characters overlap
      if (last !== undefined && last[1] > start) last[1] = Math.max(last[1], until);
      else highlights.push([start, until]);
    }
    return withJoined(
      highlights,
      (joined[of] ?? []).filter(({ word }) => words?.has(word)),
    );
  });
}

interface JoinedWord {
  word: string;
  start: number;
}

/** What is found by no part of it is found as a whole. */
function withJoined(highlights: Highlight[], joined: readonly JoinedWord[]): Highlight[] {
  const whole = joined
    .map(({ word, start }): Highlight => [start, start + word.length])
    .filter(([start, end]) => !highlights.some(([from, until]) => from < end && until > start));
  return whole.length === 0 ? highlights : [...highlights, ...whole].sort(([a], [b]) => a - b);
}

/** The places of words that stand in a row as in a phrase; of scripts with spaces. */
function piecesOfPhrases(pieces: readonly Piece[], phrases: readonly string[]): Set<number> {
  const places = new Set<number>();
  if (phrases.length === 0) return places;
  const words = pieces.map(({ piece, whole }) => (whole ? null : exactWords(piece).trim()));
  for (const phrase of phrases) {
    const wanted = phrase
      .trim()
      .split(" ")
      .filter((word) => !isJoiningMark(word));
    for (let start = words.indexOf(wanted[0] ?? ""); start !== -1; start = words.indexOf(wanted[0] ?? "", start + 1)) {
      if (!wanted.every((word, index) => words[start + index] === word)) continue;
      for (const index of wanted.keys()) places.add(start + index);
    }
  }
  return places;
}

/** @returns by language the words that match, each analysed once however often it stands */
async function matchingWords(
  sql: Queryable,
  texts: readonly TextToAnalyse[],
  pieces: readonly Piece[][],
  joined: readonly JoinedWord[][],
  lexemes: ReadonlySet<string>,
): Promise<Map<string, Set<string>>> {
  const byLanguage = new Map<string, Set<string>>();
  pieces.forEach((found, of) => {
    const language = texts[of]?.language ?? "";
    const words = byLanguage.get(language) ?? new Set();
    byLanguage.set(language, words);
    for (const { piece, whole } of found) if (!whole) words.add(piece);
    for (const { word } of joined[of] ?? []) words.add(word);
  });
  const asked = [...byLanguage].flatMap(([language, words]) => [...words].map((text) => ({ text, language })));
  const analysed = await wordsOf(sql, asked);
  for (const [at, { text, language }] of asked.entries()) {
    const matches = (analysed[at] ?? []).some(
      ({ first, others }) =>
        (first !== null && lexemes.has(first.text)) || others?.some(({ lexeme }) => lexemes.has(lexeme.text)),
    );
    if (!matches) byLanguage.get(language)?.delete(text);
  }
  return byLanguage;
}

function piecesOf(text: string): Piece[] {
  return isAscii(text) ? asciiPieces(text) : piecesOfScripts(text);
}

const IS_ALPHANUMERIC = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** What `piecesOfScripts` finds, in a tenth of its time. */
function asciiPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (let start = 0; start < text.length; start++) {
    if (IS_ALPHANUMERIC[text.charCodeAt(start)] !== 1) continue;
    let end = start + 1;
    while (end < text.length && IS_ALPHANUMERIC[text.charCodeAt(end)] === 1) end++;
    if (text.startsWith("++", end)) end += 2;
    else if (text.charAt(end) === "#") end++;
    pieces.push({ piece: text.slice(start, end), start, end, whole: false, firstEnd: end });
    start = end - 1;
  }
  return pieces;
}

function piecesOfScripts(text: string): Piece[] {
  const pieces: Piece[] = [];
  const add = (piece: string, start: number, whole: boolean, firstLength = piece.length): void => {
    pieces.push({ piece, start, end: start + piece.length, whole, firstEnd: start + firstLength });
  };
  for (const { 0: piece, index, groups = {} } of text.matchAll(PIECE)) {
    if (groups["word"] !== undefined) add(piece, index, false);
    else if (groups["thai"] !== undefined) {
      for (const { segment, index: at } of segmentsOf(piece)) add(segment, index + at, true);
    } else {
      UNIT.lastIndex = index + piece.length;
      add(piece + (UNIT.exec(text)?.[0] ?? ""), index, true, piece.length);
    }
  }
  return pieces;
}
