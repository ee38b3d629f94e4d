/**
 * Which chunks are ranked where too many hold all of a query's words: those first that can score most, by the grades
 * that their words have in the index, and by their lengths where a word stands in each but once.
 */
import {
  gradedLexeme,
  HIGHEST_GRADE,
  impactOfGrade,
  impactOfLength,
  LONGEST,
  lengthLexeme,
  wordsOfLength,
} from "../analysis/grades.ts";
import { lexemeQuery } from "./query-reading.ts";
import { MOST_CANDIDATES, type RecallQuery, type Term } from "./recall.ts";

/** Terms whose grades count, and all that are looked at: there are as many queries as combinations. */
const GRADED_TERMS = 2;
const TERMS = 6;
/** About so many chunks are enough to rank. */
const ENOUGH = 200;
const WANTED_SHORT = 300;
const GRADES = Array.from({ length: HIGHEST_GRADE }, (_, below) => HIGHEST_GRADE - below);
const LENGTHS = Array.from({ length: LONGEST + 1 }, (_, length) => length);

/** What a term is worth in chunks that match a query. */
interface Level {
  /** In the syntax of `tsquery`; matches what the levels before it match, too. */
  query: string;
  /** Of all chunks. */
  share: number;
  weight: number;
}

/** The lexemes whose counts `gradedQueries` wants to know. */
export function countedLexemes(terms: readonly Term[]): string[] {
  const graded = gradedTerms(terms).flatMap(({ lexemes }) =>
    lexemes.flatMap((lexeme) => GRADES.map((grade) => gradedLexeme(grade, lexeme))),
  );
  return graded.length === 0 ? [] : [...graded, ...LENGTHS.map(lengthLexeme)];
}

const gradedTerms = (terms: readonly Term[]): Term[] =>
  terms
    .slice(0, TERMS)
    .filter(({ chunks }) => chunks > MOST_CANDIDATES)
    .slice(0, GRADED_TERMS);

/**
 * @param terms the most valuable first
 * @param counts of `countedLexemes`
 * @param condition what every candidate must match
 * @returns queries that find the best together, and what all of them match; null: nothing stands out
 */
export function gradedQueries(
  terms: readonly Term[],
  corpus: number,
  counts: ReadonlyMap<string, number>,
  condition: string | null,
): { queries: RecallQuery[]; found: string } | null {
  const graded = new Set(gradedTerms(terms));
  const levels = terms.slice(0, TERMS).map((term) => levelsOf(term, corpus, graded.has(term) ? counts : null));
  if (levels.every(({ length }) => length === 1)) return null;
  const queries: RecallQuery[] = [];
  let found: string | null = null;
  for (const { threshold, expected } of groupsOf(levels, corpus)) {
    const query = atLeast(levels, threshold);
    if (query === null || query === "" || query === found) continue;
    const parts = [
      `(${query})`,
      ...(found === null ? [] : [`!(${found})`]),
      ...(condition === null ? [] : [condition]),
    ];
    queries.push({ query: parts.join(" & "), limit: MOST_CANDIDATES, scanned: false, expected });
    found = query;
  }
  return found === null ? null : { queries, found };
}

/** The best first; the last one is the word, whatever its grade. */
function levelsOf(
  { query, lexemes, chunks, weight }: Term,
  corpus: number,
  counts: ReadonlyMap<string, number> | null,
): Level[] {
  const whole = { query, share: Math.min(1, chunks / corpus), weight: weight * impactOfGrade(0) };
  if (counts === null) return [whole];
  const levels: Level[] = [];
  const any: string[] = [];
  let held = 0;
  for (const grade of GRADES) {
    const names = lexemes.map((lexeme) => gradedLexeme(grade, lexeme));
    const more = names.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
    if (more === 0) continue;
    held += more;
    any.push(...names.map(lexemeQuery));
    levels.push({
      query: `(${any.join(" | ")})`,
      share: Math.min(1, held / corpus),
      weight: weight * impactOfGrade(grade),
    });
  }
  const short = shortest(query, Math.max(0, chunks - held), corpus, counts);
  if (short !== null) {
    levels.push({
      query: `(${[...any, short.query].join(" | ")})`,
      share: Math.min(1, (held + short.chunks) / corpus),
      weight: Math.min(weight * short.impact, levels.at(-1)?.weight ?? weight),
    });
  }
  return [...levels.filter(({ share }) => share < whole.share), whole];
}

/** Those of the chunks that hold the word once and are the shortest. */
function shortest(
  query: string,
  chunks: number,
  corpus: number,
  counts: ReadonlyMap<string, number>,
): { query: string; chunks: number; impact: number } | null {
  const some = LENGTHS.filter((length) => (counts.get(lengthLexeme(length)) ?? 0) > 0);
  const countOf = (length: number): number => counts.get(lengthLexeme(length)) ?? 0;
  const half = some.reduce((sum, length) => sum + countOf(length), 0) / 2;
  let shorter = 0;
  const middle = some.find((length) => {
    shorter += countOf(length);
    return shorter >= half;
  });
  let held = 0;
  const taken: number[] = [];
  for (const length of some) {
    const more = (countOf(length) * chunks) / corpus;
    if (held >= WANTED_SHORT || held + more > chunks / 2) break;
    held += more;
    taken.push(length);
  }
  const longest = taken.at(-1);
  if (longest === undefined || middle === undefined) return null;
  const lengths = taken.map((length) => lexemeQuery(lengthLexeme(length))).join(" | ");
  return {
    query: `${query} & (${lengths})`,
    chunks: held,
    impact: impactOfLength(wordsOfLength(longest), wordsOfLength(middle)),
  };
}

/** Sums of weights, highest first, that are reached by about as many chunks as one query may find. */
function groupsOf(terms: readonly (readonly Level[])[], corpus: number): { threshold: number; expected: number }[] {
  let sums = [{ sum: 0, share: 1 }];
  for (const levels of terms) {
    sums = sums.flatMap((each) => [
      ...levels.map(({ weight, share }, at) => ({
        sum: each.sum + weight,
        share: each.share * (share - (levels[at - 1]?.share ?? 0)),
      })),
      { sum: each.sum, share: each.share * (1 - (levels.at(-1)?.share ?? 0)) },
    ]);
  }
  sums.sort((a, b) => b.sum - a.sum);
  const groups: { threshold: number; expected: number }[] = [];
  let all = 0;
  for (const { sum, share } of sums) {
    const expected = corpus * share;
    const last = groups.at(-1);
    if (sum <= 0 || (all >= ENOUGH && all + expected > MOST_CANDIDATES)) break;
    if (last === undefined || last.expected + expected > MOST_CANDIDATES) groups.push({ threshold: sum, expected });
    else Object.assign(last, { threshold: sum, expected: last.expected + expected });
    all += expected;
  }
  return groups;
}

/**
 * The boolean query of those whose words are worth so much together.
 * @returns null where nothing is, "" where everything is
 */
function atLeast(terms: readonly (readonly Level[])[], threshold: number, from = 0): string | null {
  if (threshold <= 1e-9) return "";
  const levels = terms[from];
  const possible = terms.slice(from).reduce((sum, each) => sum + (each[0]?.weight ?? 0), 0);
  if (levels === undefined || possible < threshold - 1e-9) return null;
  const choices: { query: string; rest: string | null }[] = [];
  for (const { query, weight } of levels) {
    const rest = atLeast(terms, threshold - weight, from + 1);
    if (rest === null) continue;
    // the level below holds this one
    if (choices.at(-1)?.rest === rest) choices.pop();
    choices.push({ query, rest });
  }
  const without = atLeast(terms, threshold, from + 1);
  const queries = choices.map(({ query, rest }) => (rest === "" ? query : `${query} & (${rest})`));
  return [...queries, ...(without === null ? [] : [without])].join(" | ") || null;
}
