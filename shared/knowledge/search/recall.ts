/**
 * Which chunks are ranked. Ranking all that hold any word of a query would take as long as the words are common; so
 * those are looked at that can score most, by the sum of what the words that they hold are worth, as MaxScore and WAND
 * have it (Turtle, Flood 1995; Broder et al. 2003). PostgreSQL's index evaluates "at least so much" as one boolean
 * query, and skips along the postings of common words.
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
  query: string;
  limit: number;
}

/** Terms that decide; the others only rank. The boolean query grows with their combinations. */
const DECIDING_TERMS = 8;
/** About so many chunks each query finds, were words independent of each other; they are not, so that more are. */
const EXPECTED = [60, 500];
const LIMITS = [600, 600];

/**
 * @param terms the most valuable first
 * @param corpus chunks
 * @param condition what every candidate must match
 */
export function recallQueries(terms: readonly Term[], corpus: number, condition: string | null): RecallQuery[] {
  const deciding = terms.slice(0, DECIDING_TERMS);
  const thresholds = thresholdsFor(deciding, corpus);
  const queries: RecallQuery[] = [];
  let before: string | null = null;
  for (const [index, threshold] of thresholds.entries()) {
    const query = atLeast(deciding, threshold);
    if (query === null || query === "" || query === before) continue;
    const parts = [
      `(${query})`,
      ...(before === null ? [] : [`!(${before})`]),
      ...(condition === null ? [] : [condition]),
    ];
    queries.push({ query: parts.join(" & "), limit: LIMITS[index] ?? 0 });
    before = query;
  }
  return queries;
}

/** The sums of weights that about as many chunks reach as are expected of each query. */
function thresholdsFor(terms: readonly Term[], corpus: number): number[] {
  let sums = [{ sum: 0, share: 1 }];
  for (const { weight, chunks } of terms) {
    const share = Math.min(1, chunks / corpus);
    sums = sums.flatMap((each) => [
      { sum: each.sum + weight, share: each.share * share },
      { sum: each.sum, share: each.share * (1 - share) },
    ]);
  }
  sums.sort((a, b) => b.sum - a.sum);
  let expected = 0;
  let at = 0;
  return EXPECTED.map((wanted) => {
    while (expected < wanted && at < sums.length - 1) expected += corpus * (sums[at++]?.share ?? 0);
    return sums[Math.max(0, at - 1)]?.sum ?? 0;
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
