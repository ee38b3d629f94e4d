/** The tsvectors that keyword search finds texts by. */
import type { Queryable } from "../../platform/database/database.ts";
import { type Lexeme, type TextToAnalyse, type Word, wordsOf } from "./words.ts";

/** Of the analysis that this code does. Rows of an earlier one are analysed again. */
export const ANALYSIS = 1;

/** What a chunk is found by. */
export function keywordText(title: string | null, sectionHeader: string | null, content: string): string {
  return `${title ?? ""}\n${sectionHeader ?? ""}\n${content}`;
}

/**
 * @param texts as they are stored: without NUL and lone surrogates
 * @returns for each text a tsvector in PostgreSQL's syntax
 */
export async function keywordVectors(sql: Queryable, texts: readonly TextToAnalyse[]): Promise<string[]> {
  return (await wordsOf(sql, texts)).map(vectorOf);
}

function vectorOf(sequence: readonly Word[]): string {
  const found: Lexeme[] = [];
  const add = (lexeme: Lexeme, position: number): void => {
    if (lexeme.of === sequence) lexeme.positions += `,${position}`;
    else {
      lexeme.of = sequence;
      lexeme.positions = `${position}`;
      found.push(lexeme);
    }
  };
  let position = 1;
  for (const { first, firstPlace, others, places } of sequence) {
    if (first !== null) add(first, position + firstPlace);
    if (others !== null) for (const { lexeme, place } of others) add(lexeme, position + place);
    position += places;
  }
  let vector = "";
  for (const lexeme of found) {
    vector += `${lexeme.quoted}${lexeme.positions} `;
    // keeps no text
    lexeme.of = null;
  }
  return vector;
}
