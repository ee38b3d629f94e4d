/** Where a query's words stand in a text, their other forms included. */
import type { Queryable } from "../../platform/database/database.ts";

/** `[start, end)` in UTF-16 code units of the text. */
export type Highlight = [start: number, end: number];

// as PostgreSQL's parser splits what `search_text` has made of the text
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * The words of each text whose stem is one of the lexemes. PostgreSQL lowers and stems them, once each for all texts
 * together, so a highlight falls on exactly what the index matched.
 */
export async function highlight(
  sql: Queryable,
  texts: readonly string[],
  lexemes: readonly string[],
): Promise<Highlight[][]> {
  if (lexemes.length === 0) return texts.map(() => []);
  const found = texts.map((text) => [...text.matchAll(WORD)]);
  const words = new Set(found.flat().map(([word]) => word));
  const matching = await sql<{ word: string }[]>`
    select word from unnest(${[...words]}::text[]) word
    where ts_lexize('pg_catalog.english_stem', word) && ${[...lexemes]}::text[]`;
  const wanted = new Set(matching.map(({ word }) => word));
  return found.map((matches) =>
    matches.filter(([word]) => wanted.has(word)).map(({ 0: word, index }): Highlight => [index, index + word.length]),
  );
}
