/** Reads a query in each language that the documents have. */
import type { Transaction } from "../../platform/database/database.ts";
import { type Analyser, analyserOf } from "../analysis/analysers.ts";
import { exactWords, phrasePattern } from "../analysis/exact-words.ts";
import { normalizeText } from "../analysis/folding.ts";
import { lexemesOf, type Reading } from "../analysis/lexemes.ts";
import { THAI } from "../analysis/scripts.ts";
import { isSingleUnit, type Token, tokensOf } from "../analysis/tokens.ts";
import type { ParsedQuery } from "./query-syntax.ts";

/** A word of the query, and how often it stands there. */
export interface AskedWord {
  /** Its stems by language. */
  lexemes: string[];
  times: number;
}

export interface QueryReading {
  words: AskedWord[];
  /** What every result must match by its lexemes, in the syntax of `tsquery`; null: anything. */
  condition: string | null;
  /** What every result must hold word by word, and what none may. */
  exactly: ExactParts;
  /** Phrases with words that are not indexed in some language, as regular expressions. */
  patterns: string[];
  /** Whether all that is asked for is phrases, of each of which some language indexes nothing. */
  unindexed: boolean;
  /** Whether a phrase may stand where none of its words was found: in Thai, sentences divide them otherwise. */
  divided: boolean;
}

export interface ExactParts {
  required: string[];
  refused: string[];
}

/** In a corpus of many languages some stop word of one of them stands in every query; two in a row tell. */
const TELLING_STOP_WORDS = 2;

/** Of each part of a query, and of all that is asked for; a pasted page has more, and finds what its beginning does. */
const MOST_TOKENS = 512;

/** What an @ joins is asked for as a whole, though its words are found, too. */
const TIMES_OF_ADDRESS = 3;

/** A token of a part, whatever small letters a language has for its capitals. */
interface QueryToken extends Token {
  /** In the small letters that most languages have. */
  word: string;
}

/** A token, and its lexemes in one language; none: a stop word. */
interface ReadToken extends QueryToken {
  lexemes: readonly string[];
}

export async function readQuery(
  tx: Transaction,
  { words, phrases, excluded }: ParsedQuery,
  languages: readonly string[],
  outdated: boolean,
): Promise<QueryReading> {
  const analysers = [...new Map(languages.map(analyserOf).map((each) => [each.name, each])).values()];
  const asked = [...words, ...phrases];
  const parts = [...asked, ...phrases, ...excluded];
  const readings = await readParts(tx, parts, asked.length, analysers);
  const old = outdated ? await readAsBefore(tx, parts) : parts.map(() => []);
  const at = { phrases: asked.length, excluded: asked.length + phrases.length };
  const required = phrases.map((phrase, index) => requirement(phrase, readings[at.phrases + index] ?? []));
  const refused = excluded.map((part, index) =>
    refusal(part, readings[at.excluded + index] ?? [], old[at.excluded + index] ?? []),
  );
  const conditions = [
    ...required.flatMap(({ query }, index) => {
      const before = old[at.phrases + index] ?? [];
      return query === null
        ? []
        : [before.length === 0 ? `(${query})` : `(${query} | ${before.map(lexemeQuery).join(" & ")})`];
    }),
    ...refused.flatMap(({ query }) => (query === null ? [] : [`!(${query})`])),
  ];
  return {
    words: askedWords(readings.slice(0, asked.length), old.slice(0, asked.length)),
    condition: conditions.length === 0 ? null : conditions.join(" & "),
    exactly: {
      required: required.map(({ exactly }) => exactly),
      refused: refused.flatMap(({ exactly }) => (exactly === null ? [] : [exactly])),
    },
    patterns: required
      .flatMap(({ exactly, indexed }) => (indexed === "whole" ? [] : [phrasePattern(beginningOf(exactly))]))
      .slice(0, MOST_PATTERNS),
    unindexed: words.length === 0 && required.every(({ query, divided }) => query === null && !divided),
    divided: required.some(({ divided }) => divided),
  };
}

/**
 * Reads each token once in each language, however often it stands.
 * @param asked so many of the parts, the first ones, share `MOST_TOKENS`
 * @returns for each part, for each analyser, its tokens
 */
async function readParts(
  tx: Transaction,
  parts: readonly string[],
  asked: number,
  analysers: readonly Analyser[],
): Promise<ReadToken[][][]> {
  const locales = [...new Set(analysers.map(({ locale }) => locale))];
  let left = MOST_TOKENS;
  const tokens = parts.map((part, at) => {
    const byLocale = tokensByLocale(part, locales, at < asked ? left : MOST_TOKENS);
    if (at < asked) left -= Math.max(0, ...[...byLocale.values()].map(({ length }) => length));
    return byLocale;
  });
  const readings = new Map<string, Reading>();
  const keyOf = ({ text, stemmed }: Token, { name }: Analyser): string => `${name} ${stemmed} ${text}`;
  for (const analyser of analysers) {
    for (const byLocale of tokens) {
      for (const token of byLocale.get(analyser.locale) ?? [])
        readings.set(keyOf(token, analyser), { token, analyser });
    }
  }
  const lexemes = await lexemesOf(tx, [...readings.values()]);
  const known = new Map([...readings.keys()].map((key, at) => [key, lexemes[at] ?? []]));
  return tokens.map((byLocale) =>
    analysers.map((analyser) =>
      (byLocale.get(analyser.locale) ?? []).map((token) => ({
        ...token,
        lexemes: known.get(keyOf(token, analyser)) ?? [],
      })),
    ),
  );
}

/** The first `most` tokens, in the small letters of each language. */
function tokensByLocale(
  part: string,
  locales: readonly (string | undefined)[],
  most: number,
): Map<string | undefined, QueryToken[]> {
  const text = normalizeText(part);
  const plain = most > 0 ? tokensOf(text).tokens : [];
  return new Map(
    locales.map((locale) => {
      const own = locale === undefined || most <= 0 ? plain : tokensOf(text, locale).tokens;
      // capitals divide a word alike in all languages
      const tokens = own.map((token, at) => ({ ...token, word: plain[at]?.text ?? token.text }));
      return [locale, queryTokens(tokens).slice(0, most)];
    }),
  );
}

/** The last character of a run is part of a pair; alone it would ask for all words that begin with it. */
function queryTokens(tokens: readonly QueryToken[]): QueryToken[] {
  return tokens.filter(({ text }, index) => {
    const before = tokens[index - 1]?.text ?? "";
    return !(isSingleUnit(text) && before.length > text.length && before.endsWith(text));
  });
}

function askedWords(readings: readonly ReadToken[][][], old: readonly string[][]): AskedWord[] {
  const stop = languageOfStopWords(readings);
  const byText = new Map<string, { lexemes: Set<string>; times: number }>();
  readings.forEach((byAnalyser, part) => {
    const times = new Map<string, number>();
    byAnalyser.forEach((tokens) => {
      const here = new Map<string, number>();
      for (const { word, lexemes } of tokens) {
        if (lexemes.length === 0 || stop.has(word)) continue;
        here.set(word, (here.get(word) ?? 0) + (word.includes("@") ? TIMES_OF_ADDRESS : 1));
        const held = byText.get(word) ?? { lexemes: new Set(), times: 0 };
        byText.set(word, held);
        for (const lexeme of lexemes) held.lexemes.add(lexeme);
      }
      for (const [key, count] of here) times.set(key, Math.max(times.get(key) ?? 0, count));
    });
    for (const [key, count] of times) {
      const word = byText.get(key);
      if (word !== undefined) word.times += count;
    }
    for (const lexeme of old[part] ?? []) {
      if (![...byText.values()].some(({ lexemes }) => lexemes.has(lexeme))) {
        byText.set(`\0${lexeme}`, { lexemes: new Set([lexeme]), times: 1 });
      }
    }
  });
  // forms of one word are one word
  const merged = new Map<string, AskedWord>();
  for (const { lexemes, times } of byText.values()) {
    const sorted = [...lexemes].sort();
    const key = sorted.join("|");
    const same = merged.get(key);
    merged.set(key, { lexemes: sorted, times: times + (same?.times ?? 0) });
  }
  return [...merged.values()];
}

/** The stop words of the language that most of the query's stop words are of. */
function languageOfStopWords(readings: readonly ReadToken[][][]): ReadonlySet<string> {
  const analysers = readings[0]?.length ?? 0;
  const byAnalyser = Array.from({ length: analysers }, (_, index) => {
    const tokens = readings.flatMap((analysed) => analysed[index] ?? []);
    return new Set(tokens.filter(({ lexemes }) => lexemes.length === 0).map(({ word }) => word));
  });
  const [most = new Set<string>(), second = new Set<string>()] = byAnalyser.toSorted((a, b) => b.size - a.size);
  return most.size >= TELLING_STOP_WORDS && most.size > second.size ? most : new Set();
}

/** Hits are compared word by word later: what a pattern costs grows with its length, and much more than it. */
const MOST_PATTERNS = 20;
const WORDS_OF_PATTERN = 32;

const beginningOf = (exactly: string): string => exactly.trim().split(" ").slice(0, WORDS_OF_PATTERN).join(" ");

interface Requirement {
  query: string | null;
  exactly: string;
  /** How much of it is indexed in each language. */
  indexed: "whole" | "partly";
  /** Whether it holds words that are divided otherwise within a sentence. */
  divided: boolean;
}

const DIVIDED = new RegExp(`[${THAI}]`, "v");

/**
 * A phrase as its lexemes stand, in any of the languages; null: in one of them it has none, so that any row may hold
 * it. The words themselves are compared later.
 */
function requirement(phrase: string, byAnalyser: readonly ReadToken[][]): Requirement {
  const queries = new Set<string>();
  let indexed: Requirement["indexed"] = "whole";
  let divided = false;
  for (const tokens of byAnalyser) {
    let query = "";
    let last = 0;
    for (const { text, place, lexemes } of firstOfPlaces(tokens)) {
      divided ||= DIVIDED.test(text);
      if (lexemes.length === 0 || DIVIDED.test(text)) {
        indexed = "partly";
        continue;
      }
      const either = anyLexeme(lexemes);
      query = query === "" ? either : `${query} <${place - last}> ${either}`;
      last = place;
    }
    queries.add(query);
  }
  return {
    query: queries.has("") ? null : [...queries].map((each) => `(${each})`).join(" | "),
    exactly: exactWords(phrase),
    indexed,
    divided,
  };
}

/** One word refuses its forms, too, and itself where a language does not index it; more than one as they stand. */
function refusal(
  part: string,
  byAnalyser: readonly ReadToken[][],
  old: readonly string[],
): { query: string | null; exactly: string | null } {
  const lexemes = new Set(old);
  let indexed = true;
  for (const tokens of byAnalyser) {
    const words = firstOfPlaces(tokens);
    if (words.length > 1) return { query: null, exactly: exactWords(part) };
    const found = words[0]?.lexemes ?? [];
    indexed &&= found.length > 0 && !words.some(({ text }) => DIVIDED.test(text));
    for (const lexeme of found) lexemes.add(lexeme);
  }
  return {
    query: lexemes.size === 0 ? null : anyLexeme([...lexemes]),
    exactly: indexed ? null : exactWords(part),
  };
}

/** The first token of a place is the word as it stands. */
function firstOfPlaces(tokens: readonly ReadToken[]): ReadToken[] {
  return [...new Map(tokens.toReversed().map((token) => [token.place, token])).values()].sort(
    (a, b) => a.place - b.place,
  );
}

function anyLexeme(lexemes: readonly string[]): string {
  return `(${lexemes.map(lexemeQuery).join(" | ")})`;
}

/** Each part as rows of the earlier analysis were made. */
async function readAsBefore(tx: Transaction, parts: readonly string[]): Promise<string[][]> {
  const rows = await tx<{ lexemes: string[] }[]>`
    select array(select lexeme from unnest(to_tsvector('pg_catalog.english', search_text(part)))) as lexemes
    from unnest(${[...parts]}::text[]) with ordinality as asked (part, place) order by place`;
  return rows.map(({ lexemes }) => lexemes);
}

/** A lexeme in the syntax of `tsquery`; a single character asks for all pairs that begin with it. */
export function lexemeQuery(lexeme: string): string {
  const quoted = `'${lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
  return isSingleUnit(lexeme) ? `${quoted}:*` : quoted;
}
