/** The tsvectors that keyword search finds texts by. */
import type { Queryable } from "../../platform/database/database.ts";
import { gradedLexeme, gradeOf, lengthClass, lengthLexeme } from "./grades.ts";
import { type Lexeme, type TextToAnalyse, type Word, wordsOf } from "./words.ts";

/** Of the analysis that this code does. Rows of an earlier one are analysed again. */
export const ANALYSIS = 2;

/** What a chunk is found by. */
export function keywordText(title: string | null, sectionHeader: string | null, content: string): string {
  return `${title ?? ""}\n${sectionHeader ?? ""}\n${content}`;
}

/** What a vector holds beside the words. */
interface Additions {
  /** Stop words, each as its `stopLexeme`. */
  stops?: boolean;
  /** What chunks are chosen by: see `grades.ts`. */
  grades?: boolean;
}

/**
 * @param texts as they are stored: without NUL and lone surrogates
 * @returns for each text a tsvector in PostgreSQL's syntax
 */
export async function keywordVectors(
  sql: Queryable,
  texts: readonly TextToAnalyse[],
  additions: Additions = {},
): Promise<string[]> {
  return (await wordsOf(sql, texts)).map((sequence) => vectorOf(sequence, additions));
}

/** As `keywordVectors`, of chunks: `keywordText` gives their texts. */
export async function chunkVectors(sql: Queryable, texts: readonly TextToAnalyse[]): Promise<string[]> {
  return await keywordVectors(sql, texts, { grades: true });
}

/** Where the lexemes of one text stand: lists, each entry with the entry behind it. Used again for each text. */
let positions = new Int32Array(4_096);
let following = new Int32Array(4_096);
let bytes = Buffer.allocUnsafe(64 * 1_024);
/** Of the text that is worked on. */
let mark = 0;

/** Bytes, since a text has hundreds of lexemes: strings put together bit by bit cost more than all else here. */
function vectorOf(sequence: readonly Word[], { stops: withStops = false, grades = false }: Additions): string {
  const found: Lexeme[] = [];
  let entries = 0;
  let room = 0;
  mark++;
  const add = (lexeme: Lexeme, position: number): void => {
    if (entries === positions.length) {
      positions = twice(positions);
      following = twice(following);
    }
    positions[entries] = position;
    following[entries] = NONE;
    if (lexeme.mark === mark) following[lexeme.last] = entries;
    else {
      lexeme.mark = mark;
      lexeme.first = entries;
      lexeme.times = 0;
      found.push(lexeme);
      room += lexeme.quoted.length * MOST_BYTES;
    }
    lexeme.times++;
    lexeme.last = entries++;
  };
  let position = 1;
  for (const { first, firstPlace, others, stops, places } of sequence) {
    if (first !== null) add(first, position + firstPlace);
    if (others !== null) for (const { lexeme, place } of others) add(lexeme, position + place);
    if (withStops && stops !== null) for (const { lexeme, place } of stops) add(lexeme, position + place);
    position += places;
  }
  const words = position - 1;
  const added = grades && words > 0 ? additionsTo(found, words) : "";
  room += entries * MOST_DIGITS + added.length * MOST_BYTES;
  if (bytes.length < room) bytes = Buffer.allocUnsafe(room * 2);
  const into = bytes;
  let at = 0;
  for (const { quoted, first } of found) {
    at = writeText(into, quoted, at);
    for (let entry = first; entry !== NONE; entry = following[entry] as number) {
      at = writeNumber(into, positions[entry] as number, at);
      into[at++] = COMMA;
    }
    into[at - 1] = SPACE;
  }
  at = writeText(into, added, at);
  return into.toString("utf8", 0, at);
}

/** Without positions: they stand nowhere. */
function additionsTo(found: readonly Lexeme[], words: number): string {
  let added = `'${lengthLexeme(lengthClass(words))}'`;
  for (const { quoted, times } of found) {
    const grade = gradeOf(times, words);
    if (grade > 0) added += ` '${gradedLexeme(grade, quoted.slice(1, -1))}`;
  }
  return added;
}

const NONE = -1;
const [SPACE, COMMA, ZERO] = [32, 44, 48];
/** Of a UTF-16 code unit in UTF-8. */
const MOST_BYTES = 3;
/** Of a position with its comma. */
const MOST_DIGITS = 11;

function twice(numbers: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const more = new Int32Array(numbers.length * 2);
  more.set(numbers);
  return more;
}

/** @returns where the next byte goes */
function writeText(into: Buffer, text: string, from: number): number {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 128) return from + into.write(text, from);
    into[from + index] = code;
  }
  return from + text.length;
}

function writeNumber(into: Buffer, number: number, from: number): number {
  let end = from + 1;
  for (let rest = number; rest >= 10; rest = (rest / 10) | 0) end++;
  let rest = number;
  for (let at = end - 1; at >= from; at--) {
    const tenths = (rest / 10) | 0;
    into[at] = ZERO + rest - tenths * 10;
    rest = tenths;
  }
  return end;
}
