/** Reads the words of a query in each language that the archive has, as its snapshots were read. */
import { type Analyser, analyserOf } from "../../knowledge/analysis/analysers.ts";
import { normalizeText } from "../../knowledge/analysis/folding.ts";
import { lexemesOf } from "../../knowledge/analysis/lexemes.ts";
import { isSingleUnit, stopLexeme, type Token, tokensOf } from "../../knowledge/analysis/tokens.ts";
import type { Queryable } from "../../platform/database/database.ts";

export interface ReadPart {
  /** In the syntax of `tsquery`; null: nothing of it is indexed. */
  query: string | null;
  /** Whether some language has it, a single word, for a stop word. */
  isStopWord: boolean;
  /** Each by itself. */
  lexemes: string[];
}

export async function archiveAnalysers(sql: Queryable): Promise<Analyser[]> {
  const rows = await sql<{ language: string }[]>`select language from archive_languages`;
  const languages = rows.length === 0 ? ["en"] : rows.map(({ language }) => language);
  return [...new Map(languages.map(analyserOf).map((each) => [each.name, each])).values()];
}

/** @param parts words and phrases */
export async function readParts(
  sql: Queryable,
  parts: readonly string[],
  analysers: readonly Analyser[],
): Promise<ReadPart[]> {
  const tokens = parts.map((part) => analysers.map(({ locale }) => queryTokens(part, locale)));
  const readings = tokens.flatMap((byAnalyser) =>
    byAnalyser.flatMap((some, at) => some.map((token) => ({ token, analyser: analysers[at] as Analyser }))),
  );
  const lexemes = await lexemesOf(sql, readings);
  let next = 0;
  return tokens.map((byAnalyser) => {
    const read = byAnalyser.map((some) =>
      some.map((token) => ({ ...token, lexemes: lexemes[next++] ?? [], stop: stopLexeme(token) })),
    );
    const queries = new Set(read.map(sequence).filter((query) => query !== ""));
    return {
      query: queries.size === 0 ? null : `(${[...queries].join(" | ")})`,
      isStopWord: read.some((some) => placesOf(some) <= 1 && some.every((each) => each.lexemes.length === 0)),
      lexemes: [...new Set(read.flat().flatMap((each) => each.lexemes))],
    };
  });
}

/** The last character of a run is part of a pair; alone it would ask for all words that begin with it. */
function queryTokens(part: string, locale: string | undefined): Token[] {
  const { tokens } = tokensOf(normalizeText(part), locale);
  return tokens.filter(({ text }, at) => {
    const before = tokens[at - 1]?.text ?? "";
    return !(isSingleUnit(text) && before.length > text.length && before.endsWith(text));
  });
}

interface ReadToken {
  place: number;
  lexemes: readonly string[];
  /** What it is indexed as where it is a stop word. */
  stop: string;
}

const placesOf = (tokens: readonly ReadToken[]): number => new Set(tokens.map(({ place }) => place)).size;

/**
 * What stands in one place is one word, in any of its readings. Stop words are asked for between others, and not by
 * themselves.
 */
function sequence(tokens: readonly ReadToken[]): string {
  const places = [...Map.groupBy(tokens, ({ place }) => place)].sort(([a], [b]) => a - b);
  let query = "";
  let last = 0;
  for (const [place, readings] of places) {
    // a stop word, too, may be written without its accents
    const stops = places.length > 1 ? readings.map(({ stop }) => stop) : [];
    const lexemes = [...new Set([...readings.flatMap((each) => each.lexemes), ...stops])];
    if (lexemes.length === 0) continue;
    query = query === "" ? anyOf(lexemes) : `${query} <${place - last}> ${anyOf(lexemes)}`;
    last = place;
  }
  return query === "" ? "" : `(${query})`;
}

/** @param lexemes at least one */
export const anyOf = (lexemes: readonly string[]): string => `(${lexemes.map(quoted).join(" | ")})`;

/** A single character asks for all pairs that begin with it. */
function quoted(lexeme: string): string {
  const text = `'${lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
  return isSingleUnit(lexeme) ? `${text}:*` : text;
}
