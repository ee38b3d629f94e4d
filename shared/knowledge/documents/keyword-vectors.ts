/**
 * The tsvectors of texts, exactly as `chunk_fts` makes them, from what PostgreSQL has said of their words before.
 *
 * Measured: `to_tsvector` takes 2.9 of the 4.5 ms of CPU that the chunks of a page of 1,900 words cost the database, most of it
 * for words that it has taken apart thousands of times. No token of its parser goes beyond one of `SEPARATORS`, so a text is
 * the sequence of what stands between them, and each such word is analysed once.
 */
import type { Transaction } from "../../platform/database/database.ts";

/** What `chunk_fts` makes of a word: its lexemes, each with its place among the positions that the word takes. */
interface Word {
  /** Null for a stop word. */
  first: Lexeme | null;
  /** 0 but for a few words. */
  firstPlace: number;
  /** Words that PostgreSQL takes apart have more than one. */
  others: readonly { lexeme: Lexeme; place: number }[] | null;
  /** Stop words take one, too. */
  positions: number;
}

interface Lexeme {
  /** In the syntax of a tsvector. */
  quoted: string;
  /** The text that its positions are of. */
  text: object | null;
  positions: string;
}

/** ASCII white space, and marks that the parser knows in tags and entities at the most, which `search_text` takes apart. */
const SEPARATORS = ' \t\n\v\f\r,;!?()".';
const IS_SEPARATOR = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(SEPARATORS.includes(String.fromCharCode(code))),
);

/** In UTF-16 code units. What is longer is hardly seen twice, and is not kept. */
const LONGEST_KEPT = 40;
/** A longer text may have more positions than a tsvector holds. */
const LONGEST_TEXT = 30_000;
/** From here on scripts need no spaces, so that a word is a sentence; and emoji. */
const WORDLESS = 0x2e80;

/** Words that are kept: some 5 MB. */
const MOST_WORDS = 30_000;
const words = new Map<string, Word>();
const lexemes = new Map<string, Lexeme>();

/**
 * @param texts as they are stored: without NUL and lone surrogates
 * @returns for each text a tsvector in PostgreSQL's syntax; null where `chunk_fts` is to make it
 */
export async function keywordVectors(tx: Transaction, texts: readonly string[]): Promise<(string | null)[]> {
  const unknown = new Map<string, Word>();
  const sequences = texts.map((text) => splitWords(text, unknown));
  if (unknown.size > 0) await analyse(tx, unknown);
  return sequences.map((sequence) => sequence && vectorOf(sequence));
}

/** @param unknown gets the words that are to be analysed */
function splitWords(text: string, unknown: Map<string, Word>): Word[] | null {
  if (text.length > LONGEST_TEXT) return null;
  const sequence: Word[] = [];
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? 32 : text.charCodeAt(at);
    if (code >= WORDLESS) return null;
    if (code >= 128 || IS_SEPARATOR[code] === 0) continue;
    if (at > start) {
      const part = text.slice(start, at);
      let word = words.get(part) ?? unknown.get(part);
      if (word === undefined) {
        word = { first: null, firstPlace: 0, others: null, positions: 0 };
        unknown.set(part, word);
      }
      sequence.push(word);
    }
    start = at + 1;
  }
  return sequence;
}

/** Asks PostgreSQL for these words. The last lexeme, of a word behind them, shows how many positions a word takes. */
async function analyse(tx: Transaction, unknown: ReadonlyMap<string, Word>): Promise<void> {
  const rows = await tx<{ word: string; found: [string, number[]][] }[]>`
    select word, (select json_agg(json_build_array(lexeme, positions)) from unnest(chunk_fts('', '', word || ' 0'))) as found
    from unnest(${[...unknown.keys()]}::text[]) word`;
  if (words.size + rows.length > MOST_WORDS) {
    words.clear();
    lexemes.clear();
  }
  for (const { word: text, found } of rows) {
    const word = unknown.get(text) as Word;
    const placed = found.flatMap(([lexeme, positions]) =>
      positions.map((position) => ({ lexeme, place: position - 1 })),
    );
    word.positions = Math.max(...placed.map(({ place }) => place));
    const [first, ...others] = placed
      .filter(({ place }) => place < word.positions)
      .map(({ lexeme, place }) => ({ lexeme: lexemeOf(lexeme), place }));
    word.first = first?.lexeme ?? null;
    word.firstPlace = first?.place ?? 0;
    word.others = others.length === 0 ? null : others;
    if (text.length <= LONGEST_KEPT) words.set(text, word);
  }
}

function lexemeOf(text: string): Lexeme {
  const known = lexemes.get(text);
  if (known !== undefined) return known;
  const quoted = `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}':`;
  const fresh: Lexeme = { quoted, text: null, positions: "" };
  lexemes.set(text, fresh);
  return fresh;
}

function vectorOf(sequence: readonly Word[]): string {
  const found: Lexeme[] = [];
  const add = (lexeme: Lexeme, position: number): void => {
    if (lexeme.text === sequence) lexeme.positions += `,${position}`;
    else {
      lexeme.text = sequence;
      lexeme.positions = `${position}`;
      found.push(lexeme);
    }
  };
  let position = 1;
  for (const { first, firstPlace, others, positions } of sequence) {
    if (first !== null) add(first, position + firstPlace);
    if (others !== null) for (const { lexeme, place } of others) add(lexeme, position + place);
    position += positions;
  }
  let vector = "";
  for (const lexeme of found) {
    vector += `${lexeme.quoted}${lexeme.positions} `;
    // keeps no text
    lexeme.text = null;
  }
  return vector;
}
