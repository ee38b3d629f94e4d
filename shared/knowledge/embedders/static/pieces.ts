/**
 * Takes a text apart into the pieces that the model knows: words, or the longest beginnings and continuations of them.
 */
import { CONTINUED_HASH, EMPTY_HASH, hashFurther, type Vocabulary } from "./vocabulary.ts";

/** Scripts that write without spaces; their runs are taken apart without marks of continuation. */
const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}ー々〆";
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
const WORDS = new RegExp(
  `[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])*`,
  "gu",
);
const NOT_ASCII = /[^\0-\x7f]/;
const SURROGATE = /[\ud800-\udfff]/;
const MARKS = /\p{Mn}/gu;
/** They make another kana of a kana. */
const VOICING_MARKS = "\u3099\u309a";

/** In characters, as Unicode counts them. */
const LONGEST_PIECE = 20;
const LONGEST_UNSPACED_PIECE = 12;
const LONGEST_WORD = 64;

/** Compatibility forms and case folded, accents taken off. */
export function normalise(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  const bare = text.normalize("NFKC").toLowerCase().normalize("NFD");
  return bare.replace(MARKS, (mark) => (VOICING_MARKS.includes(mark) ? mark : "")).normalize("NFC");
}

/**
 * Calls `visit` with the row of each piece, in order; what the model does not know is left out.
 * @param limit pieces, after which it stops
 */
export function visitRows(vocabulary: Vocabulary, text: string, limit: number, visit: (row: number) => void): void {
  const plain = normalise(text);
  let left = limit;
  const take = (row: number): boolean => {
    visit(row);
    left -= 1;
    return left > 0;
  };
  if (limit <= 0) return;
  if (NOT_ASCII.test(plain)) visitWords(vocabulary, plain, take);
  else visitAsciiWords(vocabulary, plain, take);
}

/** @returns false where enough has been seen */
type Take = (row: number) => boolean;

function visitWords(vocabulary: Vocabulary, plain: string, take: Take): void {
  for (const [word] of plain.matchAll(WORDS)) if (!visitWord(vocabulary, word, take)) return;
}

/** The same, letter by letter. */
function visitAsciiWords(vocabulary: Vocabulary, plain: string, take: Take): void {
  for (let start = 0; start < plain.length; ) {
    let hash = EMPTY_HASH;
    let end = start;
    for (; end < plain.length && isAlphanumeric(plain.charCodeAt(end)); end++) {
      hash = hashFurther(hash, plain.charCodeAt(end));
    }
    if (end > start) {
      const row = vocabulary.rowOf(plain, start, end, hash, false);
      if (!(row < 0 ? visitPieces(vocabulary, plain.slice(start, end), take) : take(row))) return;
    }
    start = end + 1;
  }
}

const isAlphanumeric = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 48 && code <= 57);

function visitWord(vocabulary: Vocabulary, word: string, take: Take): boolean {
  let whole = EMPTY_HASH;
  for (let at = 0; at < word.length; at++) whole = hashFurther(whole, word.charCodeAt(at));
  const row = vocabulary.rowOf(word, 0, word.length, whole, false);
  return row < 0 ? visitPieces(vocabulary, word, take) : take(row);
}

function visitPieces(vocabulary: Vocabulary, word: string, take: Take): boolean {
  for (const row of rowsOfPieces(vocabulary, word)) if (!take(row)) return false;
  return true;
}

/** Words whose pieces are kept: texts repeat what the model does not know. Some 2 MB. */
const MOST_WORDS = 10_000;
const keptRows = new WeakMap<Vocabulary, Map<string, readonly number[]>>();

function rowsOfPieces(vocabulary: Vocabulary, word: string): readonly number[] {
  const kept = keptRows.get(vocabulary) ?? new Map<string, readonly number[]>();
  const known = kept.get(word);
  if (known !== undefined) return known;
  const rows = findPieces(vocabulary, word);
  if (word.length > LONGEST_WORD) return rows;
  if (kept.size === MOST_WORDS) kept.clear();
  kept.set(word, rows);
  keptRows.set(vocabulary, kept);
  return rows;
}

/** Of a word that is not known as a whole: from its start the longest piece that fits, again and again. */
function findPieces(vocabulary: Vocabulary, word: string): number[] {
  const unspaced = NOT_ASCII.test(word) && STARTS_UNSPACED.test(word);
  const bounds = boundsOf(word);
  const count = unspaced ? bounds.length - 1 : Math.min(bounds.length - 1, LONGEST_WORD);
  const reach = unspaced ? LONGEST_UNSPACED_PIECE : LONGEST_PIECE;
  const rows: number[] = [];
  for (let first = 0; first < count; ) {
    const continued = !unspaced && first > 0;
    const end = Math.min(count, first + reach);
    const [found, next] = longestPiece(vocabulary, word, bounds, first, end, continued);
    if (found >= 0) rows.push(found);
    first = next;
  }
  return rows;
}

/** Hashes of the prefixes of what is looked at. */
const hashes = new Int32Array(LONGEST_PIECE + 1);

/** @returns its row, or -1, and where to go on */
function longestPiece(
  vocabulary: Vocabulary,
  word: string,
  bounds: ArrayLike<number>,
  first: number,
  end: number,
  continued: boolean,
): [row: number, next: number] {
  const start = bounds[first] as number;
  let hash = continued ? CONTINUED_HASH : EMPTY_HASH;
  for (let last = first + 1; last <= end; last++) {
    for (let at = bounds[last - 1] as number; at < (bounds[last] as number); at++) {
      hash = hashFurther(hash, word.charCodeAt(at));
    }
    hashes[last - first] = hash;
  }
  for (let last = end; last > first; last--) {
    const row = vocabulary.rowOf(word, start, bounds[last] as number, hashes[last - first] as number, continued);
    if (row >= 0) return [row, last];
  }
  return [-1, first + 1];
}

/** Where the characters of a text begin that has none beyond U+FFFF. */
const UNITS = Uint32Array.from({ length: 256 }, (_, at) => at);

/** Where its characters begin, and its end; a character beyond U+FFFF takes two code units. */
function boundsOf(word: string): ArrayLike<number> {
  if (!SURROGATE.test(word)) {
    return word.length < UNITS.length
      ? UNITS.subarray(0, word.length + 1)
      : Uint32Array.from({ length: word.length + 1 }, (_, at) => at);
  }
  const bounds = new Uint32Array(word.length + 1);
  let count = 0;
  let at = 0;
  for (const character of word) {
    bounds[count++] = at;
    at += character.length;
  }
  bounds[count] = at;
  return bounds.subarray(0, count + 1);
}
