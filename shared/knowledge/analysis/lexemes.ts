/** What words are indexed as: their stems by PostgreSQL's dictionaries, folded. */
import type { Queryable } from "../../platform/database/database.ts";
import type { Analyser } from "./analysers.ts";
import { fold, foldSpelling } from "./folding.ts";
import { isAscii } from "./scripts.ts";
import type { Token } from "./tokens.ts";

export interface Reading {
  token: Token;
  analyser: Analyser;
}

/**
 * @returns for each token the lexemes that it is found by, the first with its accents read as the language does; none
 *   for a stop word
 */
export async function lexemesOf(sql: Queryable, readings: readonly Reading[]): Promise<string[][]> {
  const asked = new Map<string, Map<string, string[]>>();
  const ask = (dictionary: string, word: string): void => {
    const words = asked.get(dictionary);
    if (words === undefined) asked.set(dictionary, new Map([[word, []]]));
    else words.set(word, []);
  };
  for (const { token, analyser } of readings) {
    for (const word of token.stemmed ? spellings(token.text, analyser) : []) {
      const dictionary = dictionaryFor(word, analyser);
      if (dictionary !== null) ask(dictionary, word);
    }
  }
  await askStems(sql, asked);
  return readings.map(({ token, analyser }) => {
    if (!token.stemmed) return [fold(token.text)].filter(written);
    const stems = spellings(token.text, analyser).map((word) => {
      const dictionary = dictionaryFor(word, analyser);
      return dictionary === null ? [word] : (asked.get(dictionary)?.get(word) ?? []);
    });
    if (stems[0]?.length === 0) return [];
    const lexemes = stems.flat().map(fold);
    return [...new Set(analyser.marksMatter ? [token.text, ...lexemes] : lexemes)].filter(written);
  });
}

/** "And" and "so" before the Arabic article, which the stemmer takes for a part of the word. */
const BEFORE_ARTICLE = /^[وف](?=ال\p{L}{2})/u;

/** Marks alone fold to nothing. */
const written = (lexeme: string): boolean => lexeme !== "";

/** A word as it is written, and as somebody writes it who leaves its accents out. */
function spellings(word: string, { foldedFirst }: Analyser): string[] {
  const folded = foldedFirst ? foldSpelling(word).replace(BEFORE_ARTICLE, "") : foldSpelling(word);
  // the feminine ending, often written without its dots
  if (foldedFirst) return folded.endsWith("ه") ? [folded, `${folded.slice(0, -1)}ة`] : [folded];
  return folded === word ? [word] : [word, folded];
}

function dictionaryFor(word: string, { dictionary, asciiDictionary }: Analyser): string | null {
  return isAscii(word) ? asciiDictionary : dictionary;
}

/** By dictionary and word: those of queries, which have the same words again and again. Some 1 MB. */
const knownStems = new Map<string, string[]>();
const MOST_KNOWN = 5_000;

async function askStems(sql: Queryable, asked: ReadonlyMap<string, Map<string, string[]>>): Promise<void> {
  const pairs: { dictionary: string; word: string }[] = [];
  for (const [dictionary, words] of asked) {
    for (const word of words.keys()) {
      const known = knownStems.get(`${dictionary} ${word}`);
      if (known === undefined) pairs.push({ dictionary, word });
      else words.set(word, known);
    }
  }
  if (pairs.length === 0) return;
  const rows = await sql<{ dictionary: string; word: string; stems: string[] }[]>`
    select dictionary, word, ts_lexize(('pg_catalog.' || dictionary || '_stem')::regdictionary, word) as stems
    from unnest(${pairs.map(({ dictionary }) => dictionary)}::text[], ${pairs.map(({ word }) => word)}::text[])
      as pair (dictionary, word)`;
  if (knownStems.size + rows.length > MOST_KNOWN) knownStems.clear();
  for (const { dictionary, word, stems } of rows) {
    asked.get(dictionary)?.set(word, stems);
    if (rows.length <= MOST_KNOWN) knownStems.set(`${dictionary} ${word}`, stems);
  }
}
