/** Where a query's words stand in a text, their other forms included. */
import type { Queryable } from "../../platform/database/database.ts";
import { fold, normalizeText } from "../analysis/folding.ts";
import { EMOJI, PAIRED_UNIT, SPACED, THAI } from "../analysis/scripts.ts";
import { isSingleUnit, segmentsOf } from "../analysis/tokens.ts";
import { type TextToAnalyse, wordsOf } from "../analysis/words.ts";

/** `[start, end)` in UTF-16 code units of the text. */
export type Highlight = [start: number, end: number];

/** Parts of words, as they are found by; each unit of what is read by pairs. Soft hyphens and joiners stand within. */
const PIECE = new RegExp(
  String.raw`(?<paired>${PAIRED_UNIT})|(?<thai>[${THAI}][${THAI}\p{M}]*)|` +
    String.raw`(?<word>(?:${SPACED}|[\u00ad\u200c\u200d])+(?:\+\+|#)?|${EMOJI})`,
  "gv",
);
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
 * The words of each text of which a lexeme is one of the query's. They are analysed as the index did, so a highlight
 * falls on exactly what it matched.
 */
export async function highlight(
  sql: Queryable,
  texts: readonly TextToAnalyse[],
  lexemes: ReadonlySet<string>,
): Promise<Highlight[][]> {
  if (lexemes.size === 0) return texts.map(() => []);
  const pieces = texts.map(({ text }) => piecesOf(text));
  const matching = await matchingWords(sql, texts, pieces, lexemes);
  // the pairs that begin with a single character match it
  const beginnings = new Set([...lexemes].filter(isSingleUnit));
  return pieces.map((found, of) => {
    const words = matching.get(texts[of]?.language ?? "");
    const highlights: Highlight[] = [];
    for (const { piece, start, end, whole, firstEnd } of found) {
      if (!whole) {
        if (words?.has(piece)) highlights.push([start, end]);
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
    return highlights;
  });
}

/** @returns by language the words that match, each analysed once however often it stands */
async function matchingWords(
  sql: Queryable,
  texts: readonly TextToAnalyse[],
  pieces: readonly Piece[][],
  lexemes: ReadonlySet<string>,
): Promise<Map<string, Set<string>>> {
  const byLanguage = new Map<string, Set<string>>();
  pieces.forEach((found, of) => {
    const language = texts[of]?.language ?? "";
    const words = byLanguage.get(language) ?? new Set();
    byLanguage.set(language, words);
    for (const { piece, whole } of found) if (!whole) words.add(piece);
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
