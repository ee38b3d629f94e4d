/**
 * The words of texts with their lexemes. Each word is analysed once for a language, and remembered: a page's words have
 * been seen thousands of times.
 */
import type { Queryable } from "../../platform/database/database.ts";
import { type Analyser, analyserOf } from "./analysers.ts";
import { normalizeText } from "./folding.ts";
import { lexemesOf, type Reading } from "./lexemes.ts";
import { stopLexeme, tokensOf } from "./tokens.ts";

/** What stands between two separators: its lexemes, each with its place among those that the word takes. */
export interface Word {
  /** Null for a stop word. */
  first: Lexeme | null;
  /** 0 but for a few words. */
  firstPlace: number;
  /** Words with parts or accents have more than one. */
  others: readonly { lexeme: Lexeme; place: number }[] | null;
  /** What stands for its stop words where phrases are to be found whole. */
  stops: readonly { lexeme: Lexeme; place: number }[] | null;
  /** Stop words take one, too. */
  places: number;
}

export interface Lexeme {
  text: string;
  /** In the syntax of a tsvector. */
  quoted: string;
  /** The text whose vector it was last in, and there its first and its last entry among the positions. */
  mark: number;
  first: number;
  last: number;
  /** Entries there. */
  times: number;
}

/** White space and marks that join nothing. */
const SEPARATORS = ' \t\n\v\f\r;!?()"';
/** These join what stands on both sides of them: the character behind them tells. */
const PERHAPS = ".,";
const IS_SEPARATOR = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return SEPARATORS.includes(character) ? 1 : PERHAPS.includes(character) ? 2 : 0;
});

/** In UTF-16 code units. What is longer is hardly seen twice, and is not kept. */
const LONGEST_KEPT = 40;
/** Scripts without spaces, whose words are sentences. */
const SENTENCES = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff]/;

/** Words that are kept: some 5 MB. */
const MOST_WORDS = 30_000;
let kept = 0;
const byAnalyser = new Map<string, Map<string, Word>>();
const lexemes = new Map<string, Lexeme>();

export interface TextToAnalyse {
  text: string;
  /** ISO 639-1, or "und". */
  language: string;
}

/** @returns the words of each text, in order */
export async function wordsOf(sql: Queryable, texts: readonly TextToAnalyse[]): Promise<Word[][]> {
  const unknown = new Map<Analyser, Map<string, Word>>();
  const sequences = texts.map(({ text, language }) => {
    const analyser = analyserOf(language);
    const known = getOrAdd(byAnalyser, analyser.name);
    const fresh = getOrAdd(unknown, analyser);
    return splitWords(text, known, fresh);
  });
  await analyse(sql, unknown);
  return sequences;
}

function getOrAdd<Key>(maps: Map<Key, Map<string, Word>>, key: Key): Map<string, Word> {
  const known = maps.get(key);
  if (known !== undefined) return known;
  const fresh = new Map<string, Word>();
  maps.set(key, fresh);
  return fresh;
}

/** @param unknown gets the words that are to be analysed */
function splitWords(text: string, known: ReadonlyMap<string, Word>, unknown: Map<string, Word>): Word[] {
  const sequence: Word[] = [];
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && !isSeparator(text, at)) continue;
    if (at > start) {
      const part = text.slice(start, at);
      let word = known.get(part) ?? unknown.get(part);
      if (word === undefined) {
        word = { first: null, firstPlace: 0, others: null, stops: null, places: 0 };
        unknown.set(part, word);
      }
      sequence.push(word);
    }
    start = at + 1;
  }
  return sequence;
}

function isSeparator(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 128) {
    const kind = IS_SEPARATOR[code];
    if (kind !== 2) return kind === 1;
    const next = at + 1 < text.length ? text.charCodeAt(at + 1) : 32;
    // a digit, a letter, or beyond ASCII
    return next < 48 || (next > 57 && next < 65) || (next > 90 && next < 97) || (next > 122 && next < 128);
  }
  if (code < 0x2000) return code === 0xa0 || code === 0xab || code === 0xbb;
  // hyphens, the apostrophe and what is not seen may stand within a word
  return code <= 0x203f && code !== 0x200c && code !== 0x200d && code !== 0x2010 && code !== 0x2011 && code !== 0x2019;
}

async function analyse(sql: Queryable, unknown: ReadonlyMap<Analyser, ReadonlyMap<string, Word>>): Promise<void> {
  const places: { word: Word; place: number }[] = [];
  const readings: Reading[] = [];
  let added = 0;
  for (const [analyser, words] of unknown) {
    added += words.size;
    for (const [part, word] of words) {
      const { tokens, places: taken } = tokensOf(normalizeText(part), analyser.locale);
      word.places = taken;
      for (const token of tokens) {
        places.push({ word, place: token.place });
        readings.push({ token, analyser });
      }
    }
  }
  if (readings.length === 0) return;
  const found = await lexemesOf(sql, readings);
  if (kept + added > MOST_WORDS) forget();
  for (const [at, texts] of found.entries()) {
    const { word, place } = places[at] as (typeof places)[number];
    const { token } = readings[at] as Reading;
    if (texts.length === 0) word.stops = [...(word.stops ?? []), { lexeme: lexemeOf(stopLexeme(token)), place }];
    for (const text of texts) {
      const lexeme = lexemeOf(text);
      if (word.first === null) {
        word.first = lexeme;
        word.firstPlace = place;
      } else word.others = [...(word.others ?? []), { lexeme, place }];
    }
  }
  for (const [analyser, words] of unknown) {
    const known = byAnalyser.get(analyser.name);
    for (const [part, word] of words) {
      if (part.length > LONGEST_KEPT || SENTENCES.test(part)) continue;
      known?.set(part, word);
      kept++;
    }
  }
}

function forget(): void {
  for (const known of byAnalyser.values()) known.clear();
  lexemes.clear();
  kept = 0;
}

function lexemeOf(text: string): Lexeme {
  const known = lexemes.get(text);
  if (known !== undefined) return known;
  const quoted = `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}':`;
  const fresh: Lexeme = { text, quoted, mark: 0, first: 0, last: 0, times: 0 };
  lexemes.set(text, fresh);
  return fresh;
}
