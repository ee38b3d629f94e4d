/**
 * The pieces of words that the model has rows for. They stay one string with a hash table of numbers beside it, 3 MB in
 * all. A Map of a hundred thousand strings takes more, and makes a string of each piece that is looked up.
 */

/** FNV-1a, over UTF-16 code units. */
const HASH_START = 0x811c9dc5;
const HASH_PRIME = 0x01000193;

export const EMPTY_HASH = HASH_START;
export const hashFurther = (hash: number, code: number): number => Math.imul(hash ^ code, HASH_PRIME);

/** Stands before a piece that begins within a word. */
const CONTINUED = "##";
/** Hash of what stands before it. */
export const CONTINUED_HASH = [...CONTINUED].reduce((hash, mark) => hashFurther(hash, mark.charCodeAt(0)), HASH_START);

export interface Vocabulary {
  /** Rows. */
  size: number;
  /**
   * The row of `text` from `start` to `end`.
   * @param hash of these characters, and of `##` before them where they continue a word
   * @returns -1 where there is none
   */
  rowOf(text: string, start: number, end: number, hash: number, continued: boolean): number;
}

/** @param text one piece a line; the line's number, from 0, is the row */
export function readVocabulary(text: string): Vocabulary {
  const starts: number[] = [];
  for (let at = 0; at < text.length; ) {
    starts.push(at);
    const end = text.indexOf("\n", at);
    at = end < 0 ? text.length : end + 1;
  }
  const size = starts.length;
  // the next one's start, less the line feed between them
  const startOf = Uint32Array.from([...starts, text.endsWith("\n") ? text.length : text.length + 1]);
  const hashes = new Int32Array(size);
  const mask = 2 ** Math.ceil(Math.log2(2 * size + 2)) - 1;
  /** Row + 1; 0 where the place is free. */
  const places = new Int32Array(mask + 1);
  for (let row = 0; row < size; row++) {
    let hash = HASH_START;
    const end = (startOf[row + 1] as number) - 1;
    for (let at = startOf[row] as number; at < end; at++) hash = hashFurther(hash, text.charCodeAt(at));
    hashes[row] = hash;
    let place = hash & mask;
    while (places[place] !== 0) place = (place + 1) & mask;
    places[place] = row + 1;
  }

  const isPiece = (row: number, word: string, start: number, end: number, continued: boolean): boolean => {
    const before = continued ? CONTINUED.length : 0;
    const from = startOf[row] as number;
    if ((startOf[row + 1] as number) - 1 - from !== end - start + before) return false;
    if (continued && !text.startsWith(CONTINUED, from)) return false;
    for (let at = start, own = from + before; at < end; at++, own++) {
      if (text.charCodeAt(own) !== word.charCodeAt(at)) return false;
    }
    return true;
  };
  return {
    size,
    rowOf(word, start, end, hash, continued) {
      for (let place = hash & mask; ; place = (place + 1) & mask) {
        const row = (places[place] as number) - 1;
        if (row < 0 || (hashes[row] === hash && isPiece(row, word, start, end, continued))) return row;
      }
    },
  };
}
