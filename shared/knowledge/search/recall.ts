/**
 * Which chunks are ranked. Ranking all that hold any word of a query would take as long as the words are common; so
 * those are looked at that can score most, by the sum of what the words that they hold are worth, as MaxScore and WAND
 * have it (Turtle, Flood 1995; Broder et al. 2003). PostgreSQL's index evaluates "at least so much" as one boolean
 * query, and skips along the postings of common words. Where that finds too few, less is enough, step by step, down
 * to any of the words.
 */

export interface Term {
  /** Any of its lexemes, in the syntax of `tsquery`. */
  query: string;
  lexemes: string[];
  /** Chunks that hold it, about. */
  chunks: number;
  /** Times in the query × inverse document frequency. */
  weight: number;
}

/** One of the queries that together find the candidates; no chunk is found by two of them. */
export interface RecallQuery {
  /** In the syntax of `tsquery`; null: anything. */
  query: string | null;
  limit: number;
  /** Whether so many chunks match that reading them one after the other finds enough sooner than the index does. */
  scanned: boolean;
  /** So many chunks match it, were words independent of each other. */
  expected: number;
}

/** Terms that decide; the others only rank. The boolean query grows with their combinations. */
const DECIDING_TERMS = 8;
/** A query finds no more than so many chunks, in the order of their places. */
export const MOST_CANDIDATES = 600;
/**
 * About so many chunks the queries of a step find, with those before them, were words independent of each other. They
 * are not, and filters and conditions leave some out: where too few are found, the next step is asked. What would find
 * more than `most` is asked for where `least` are not reached without it.
 */
const STEPS = [
  [
    { least: 60, most: 60 },
    { least: 200, most: 500 },
  ],
  [{ least: 2_000, most: 5_000 }],
  [{ least: 20_000, most: 50_000 }],
];
/** In microseconds, measured: to find a chunk in the index, and to read and test one. */
const POSTING_COST = 0.4;
const READING_COST = 10;

/** Queries that are asked together. */
export interface RecallStep {
  queries: RecallQuery[];
  /** Whether nothing that holds any of the terms is left for another step. */
  last: boolean;
}

/**
 * @param terms the most valuable first
 * @param corpus chunks
 * @param condition what every candidate must match
 * @param filtered whether chunks are left out by something else
 * @param found what is ranked already, in the syntax of `tsquery`; null: nothing
 * @returns the first step, and those to ask where the ones before find too few
 */
export function recallSteps(
  terms: readonly Term[],
  corpus: number,
  condition: string | null,
  filtered: boolean,
  found: string | null = null,
): RecallStep[] {
  const deciding = terms.slice(0, DECIDING_TERMS);
  const steps: RecallStep[] = [];
  let before: string | null = null;
  const add = (queries: RecallQuery[], query: string, expected: number): void => {
    const parts = [
      `(${query})`,
      ...(before === null ? [] : [`!(${before})`]),
      ...(found === null ? [] : [`!(${found})`]),
      ...(condition === null ? [] : [condition]),
    ];
    const scanCost = (MOST_CANDIDATES * READING_COST * corpus) / expected;
    const scanned = condition === null && !filtered && scanCost < expected * POSTING_COST;
    queries.push({ query: parts.join(" & "), limit: MOST_CANDIDATES, scanned, expected });
    before = query;
  };
  const levels = levelsFor(deciding, corpus, STEPS.flat());
  for (const { length } of STEPS) {
    const queries: RecallQuery[] = [];
    for (const { threshold, expected } of levels.splice(0, length)) {
      const query = atLeast(deciding, threshold);
      if (query !== null && query !== "" && query !== before) add(queries, query, expected);
    }
    if (queries.length > 0) steps.push({ queries, last: false });
  }
  const any = terms.map(({ query }) => query).join(" | ");
  if (any !== "" && any !== before) {
    const queries: RecallQuery[] = [];
    add(
      queries,
      any,
      Math.min(
        corpus,
        terms.reduce((sum, { chunks }) => sum + chunks, 0),
      ),
    );
    steps.push({ queries, last: false });
  }
  return steps.map((step, at) => ({ ...step, last: at === steps.length - 1 }));
}

/** The least sums of weights to look at, highest first, and how many chunks reach each, about. */
function levelsFor(
  terms: readonly Term[],
  corpus: number,
  levels: readonly { least: number; most: number }[],
): { threshold: number; expected: number }[] {
  let sums = [{ sum: 0, share: 1 }];
  for (const { weight, chunks } of terms) {
    const share = Math.min(1, chunks / corpus);
    sums = sums.flatMap((each) => [
      { sum: each.sum + weight, share: each.share * share },
      { sum: each.sum, share: each.share * (1 - share) },
    ]);
  }
  sums.sort((a, b) => b.sum - a.sum);
  let found = 0;
  let at = 0;
  return levels.map(({ least, most }) => {
    const before = found;
    for (; at < sums.length - 1; at++) {
      const next = corpus * (sums[at]?.share ?? 0);
      if (found >= least && found + next > most) break;
      found += next;
    }
    return { threshold: sums[Math.max(0, at - 1)]?.sum ?? 0, expected: found - before };
  });
}

/**
 * The boolean query of those that hold terms of at least so much weight together.
 * @returns null where nothing does, "" where everything does
 */
export function atLeast(terms: readonly Term[], threshold: number, from = 0, rest = sumOf(terms)): string | null {
  if (threshold <= 1e-9) return "";
  const term = terms[from];
  if (term === undefined || rest < threshold - 1e-9) return null;
  const holding = atLeast(terms, threshold - term.weight, from + 1, rest - term.weight);
  const without = atLeast(terms, threshold, from + 1, rest - term.weight);
  const both = holding === null ? null : holding === "" ? term.query : `${term.query} & (${holding})`;
  if (both === null || without === null) return both ?? without;
  return `${both} | ${without}`;
}

function sumOf(terms: readonly Term[]): number {
  return terms.reduce((sum, { weight }) => sum + weight, 0);
}
