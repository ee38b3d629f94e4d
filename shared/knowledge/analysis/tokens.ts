/**
 * The words of a text, as they are indexed and asked for.
 *
 * What marks join, as in `Poseidon-1234`, `max_pages` or `fs.readFile`, is found whole and by its parts, and so is what
 * capitals join. What an @ joins, as in addresses, is found as it stands and as the words beside it. Chinese, Japanese
 * and Korean are read by pairs of characters, and so are Lao, Khmer and Burmese, whose words ICU's dictionaries divide
 * now so, now so; Thai by such a dictionary. An emoji is a word.
 */
import { fold } from "./folding.ts";
import { EMOJI, PAIRED_UNIT, SPACED, THAI } from "./scripts.ts";

export interface Token {
  /** In small letters, with its accents. */
  text: string;
  /** From 0, within the text. Tokens of one place are readings of one word. */
  place: number;
  /** Whether it has other forms: not a number, and nothing that a mark belongs to. */
  stemmed: boolean;
}

export interface Tokens {
  tokens: Token[];
  /** How many places the text takes. */
  places: number;
}

/** In UTF-16 code units. Of a longer word the beginning counts. */
const LONGEST_WORD = 255;
const LONGEST_WHOLE = 64;

const JOINED_PART = String.raw`(?:(?:_+|[\-.\u2010\u2011])${SPACED}+|(?<=\p{Nd})[,:'\u2019](?=\p{Nd})${SPACED}+)`;
/** Words that marks join, for a regular expression with the flag `v`. */
export const JOINED_WORDS = `${SPACED}+${JOINED_PART}+`;

const RUN = new RegExp(
  String.raw`(?<paired>${PAIRED_UNIT}+)|(?<thai>[${THAI}][${THAI}\p{M}]*)|(?<emoji>${EMOJI})|` +
    `(?<word>${SPACED}+${JOINED_PART}*(?:@${SPACED}+${JOINED_PART}*)*` +
    String.raw`(?:(?<=\p{L})(?:\+\+|#(?!${SPACED})))?)`,
  "gv",
);
const UNIT = new RegExp(PAIRED_UNIT, "gv");
const SINGLE_UNIT = new RegExp(`^${PAIRED_UNIT}$`, "v");
const SYMBOL = /(?:\+\+|#)$/;
const JOINED = /(_+|[-.\u2010\u2011,:'\u2019])/u;
const HUMP = /(?<=\p{Ll})(?=\p{Lu})|(?<=[\p{Lu}\p{N}])(?=\p{Lu}\p{Ll}{2})/u;
const DIGITS = /^\p{Nd}+$/u;
const VERSION = /^[vV]?\p{Nd}+$/u;
const LETTER_AT_END = /\p{L}\p{M}*$/u;
const LETTER_AT_START = /^\p{L}/u;

let segmenter: Intl.Segmenter | undefined;

/**
 * @param text normalised
 * @param locale where capitals have small letters of their own
 */
export function tokensOf(text: string, locale?: string): Tokens {
  const found: Tokens = { tokens: [], places: 0 };
  for (const { groups = {} } of text.matchAll(RUN)) {
    const { paired, thai, emoji, word } = groups;
    if (word !== undefined) addWords(found, word, locale);
    else if (paired !== undefined) addPairs(found, paired);
    else if (thai !== undefined) addSegments(found, thai);
    else add(found, emoji ?? "", found.places++, false);
  }
  return found;
}

function add(found: Tokens, text: string, place: number, stemmed: boolean): void {
  found.tokens.push({
    text: text.length > LONGEST_WORD ? text.slice(0, LONGEST_WORD).toWellFormed() : text,
    place,
    stemmed,
  });
}

/** The last one stands for itself, too, so that each begins a token: see `isSingleUnit`. */
function addPairs(found: Tokens, run: string): void {
  const units = run.match(UNIT) ?? [];
  for (const [at, unit] of units.entries()) add(found, unit + (units[at + 1] ?? ""), found.places++, false);
}

/** Whether a token of a query is half a pair, and asks for all pairs that begin with it. */
export function isSingleUnit(text: string): boolean {
  return SINGLE_UNIT.test(text);
}

/** What stands for a stop word: none of any other word, since in another language the same letters may be one. */
export const stopLexeme = ({ text }: Pick<Token, "text">): string => `=${fold(text)}`;

function addSegments(found: Tokens, run: string): void {
  for (const { segment, isWordLike } of segmentsOf(run)) if (isWordLike) add(found, segment, found.places++, false);
}

/** The words of a run in Thai, each with where it begins. */
export function segmentsOf(run: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("th", { granularity: "word" });
  return segmenter.segment(run);
}

function addWords(found: Tokens, word: string, locale: string | undefined): void {
  const start = found.places;
  for (const part of word.split("@")) addWord(found, part, locale);
  if (!word.includes("@") || word.length > LONGEST_WHOLE) return;
  add(found, locale === undefined ? word.toLowerCase() : word.toLocaleLowerCase(locale), start, false);
}

function addWord(found: Tokens, word: string, locale: string | undefined): void {
  const lower = (text: string): string => (locale === undefined ? text.toLowerCase() : text.toLocaleLowerCase(locale));
  const symbol = SYMBOL.exec(word)?.[0] ?? "";
  // parts at even places, what joins them at odd ones
  const parts = word.slice(0, word.length - symbol.length).split(JOINED);
  const start = found.places;
  for (const [at, part] of parts.entries()) {
    if (at % 2 === 1) continue;
    const place = found.places++;
    if (symbol !== "" && at === parts.length - 1) add(found, lower(part) + symbol, place, false);
    else {
      add(found, lower(part), place, !DIGITS.test(part));
      const humps = part.split(HUMP);
      if (humps.length > 1) for (const hump of humps) add(found, lower(hump), place, true);
      if (at === 0 && /^[vV]\p{Nd}/u.test(part)) add(found, lower(part.slice(1)), place, false);
    }
  }
  if (parts.length > 1 && word.length <= LONGEST_WHOLE) addWholes(found, parts, symbol, start, lower);
}

/** What the parts are together: a number, or a name with its marks left out between letters. */
function addWholes(
  found: Tokens,
  parts: readonly string[],
  symbol: string,
  start: number,
  lower: (text: string) => string,
): void {
  if (symbol === "" && parts.every((part, at) => at % 2 === 1 || (at === 0 ? VERSION : DIGITS).test(part))) {
    for (const number of numbersOf(lower(parts.join("")))) add(found, number, start, false);
    return;
  }
  add(found, lower(wholeOf(parts)) + symbol, start, symbol === "");
  // a version within a name
  for (let first = 0; first < parts.length; ) {
    let end = first;
    while (end < parts.length && (end === 0 ? VERSION : DIGITS).test(parts[end] ?? "")) end += 2;
    if (end > first + 2) {
      const number = lower(parts.slice(first, end - 1).join(""));
      for (const each of numbersOf(number)) add(found, each, start + first / 2, false);
    }
    first = Math.max(end, first + 2);
  }
  // names within a dotted name
  for (let first = 0; first < parts.length; ) {
    let end = first;
    while (end + 1 < parts.length && parts[end + 1] !== ".") end += 2;
    if (end > first && end - first + 1 < parts.length) {
      add(found, lower(wholeOf(parts.slice(first, end + 1))), start + first / 2, true);
    }
    first = end + 2;
  }
}

function wholeOf(parts: readonly string[]): string {
  let whole = parts[0] ?? "";
  for (let at = 1; at < parts.length; at += 2) {
    const next = parts[at + 1] ?? "";
    const joined = LETTER_AT_END.test(whole) || LETTER_AT_START.test(next) ? "" : parts[at];
    whole += joined + next;
  }
  return whole;
}

/** A number as it stands, and without what separates its thousands. */
function numbersOf(joined: string): Set<string> {
  const text = fold(joined)
    .replaceAll("\u2019", "'")
    .replaceAll(/[\u2010\u2011]/g, "-");
  const numbers = new Set([text]);
  if (text.startsWith("v")) numbers.add(text.slice(1));
  const [, thousands, , fraction] = /^(\d{1,3}([,.'])\d{3}(?:\2\d{3})*)(?:(?!\2)[.,](\d+))?$/.exec(text) ?? [];
  if (thousands !== undefined) {
    const whole = thousands.replaceAll(/[,.']/g, "");
    numbers.add(fraction === undefined ? whole : `${whole}.${fraction}`);
  }
  if (/^\d+,\d+$/.test(text)) numbers.add(text.replace(",", "."));
  return numbers;
}
