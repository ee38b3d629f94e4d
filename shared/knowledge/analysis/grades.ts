/**
 * How much a chunk can score for a word, as lexemes of their own, so that the index finds those first that score most:
 * impacts in tiers (Anh, Moffat 2006). BM25 grows with how often the word stands in the chunk for its length.
 */

/**
 * From each on one grade more: they are worth 0.77 to 0.94 of what is possible. A first one of 2.5 would be twice as
 * many entries of the index (measured).
 */
const GRADES = [4, 6, 9, 13, 19];
/** Words of a chunk of usual length. How long chunks are in the end, nobody knows when one is written. */
const USUAL_WORDS = 200;
/** As BM25 weighs lengths. */
const OF_LENGTH = 0.75;

/** From 1 on. */
export const HIGHEST_GRADE = GRADES.length;

/**
 * @param times a word stands there; once is nothing that stands out
 * @param words of the chunk
 * @returns 0: none
 */
export function gradeOf(times: number, words: number): number {
  if (times < 2) return 0;
  const density = densityOf(times, words, USUAL_WORDS);
  let grade = 0;
  while (grade < HIGHEST_GRADE && density >= (GRADES[grade] as number)) grade++;
  return grade;
}

function densityOf(times: number, words: number, usual: number): number {
  return times / (1 - OF_LENGTH + (OF_LENGTH * words) / usual);
}

/** BM25's k1. */
const SATURATION = 1.2;
const impactOf = (density: number): number => density / (density + SATURATION);

/** What a word of a grade is worth, of 1; of one that stands there once in a chunk as long as most. */
export const impactOfGrade = (grade: number): number =>
  impactOf(grade === 0 ? 1 : 1.25 * (GRADES[grade - 1] as number));

/** What a word that stands there once is worth in a chunk of so many words, where most have `usual`. */
export const impactOfLength = (words: number, usual: number): number => impactOf(densityOf(1, words, usual));

/** No word begins so. */
export const gradedLexeme = (grade: number, lexeme: string): string => `${grade}^${lexeme}`;

/** Steps of length for each doubling. */
const STEPS_OF_LENGTH = 4;
export const LONGEST = 40;

/** @param words at least 1 */
export function lengthClass(words: number): number {
  return Math.min(LONGEST, Math.floor(STEPS_OF_LENGTH * Math.log2(words)));
}

/** The words of the longest of a class. */
export const wordsOfLength = (length: number): number => 2 ** ((length + 1) / STEPS_OF_LENGTH);

export const lengthLexeme = (length: number): string => `^${length}`;
