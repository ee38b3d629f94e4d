/**
 * The score of scrapinghub/article-extraction-benchmark (`evaluate.py`): counts of 4-word shingles, precision and
 * recall a page, averaged over pages; F1 is that of the two averages.
 */

export interface Scores {
  f1: number;
  precision: number;
  recall: number;
}

export interface PageScore {
  precision: number | null;
  recall: number | null;
}

const SHINGLE = 4;

/** Scores one page; null where the measure is not defined (nothing predicted, or nothing to find). */
export function scorePage(truth: string, predicted: string): PageScore {
  const wanted = shingles(truth);
  const given = shingles(predicted);
  let hits = 0;
  let misses = 0;
  for (const [shingle, count] of wanted) {
    const found = Math.min(count, given.get(shingle) ?? 0);
    hits += found;
    misses += count - found;
  }
  let total = 0;
  for (const count of given.values()) total += count;
  const excess = total - hits;
  return {
    precision: hits + excess === 0 ? null : hits / (hits + excess),
    recall: hits + misses === 0 ? null : hits / (hits + misses),
  };
}

export function average(pages: readonly PageScore[]): Scores {
  const precision = mean(pages.map((page) => page.precision));
  const recall = mean(pages.map((page) => page.recall));
  return { f1: (2 * precision * recall) / (precision + recall), precision, recall };
}

function mean(values: readonly (number | null)[]): number {
  const defined = values.filter((value) => value !== null);
  return defined.reduce((sum, value) => sum + value, 0) / defined.length;
}

function shingles(text: string): Map<string, number> {
  const words = text.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  const counts = new Map<string, number>();
  if (words.length === 0) return counts;
  for (let index = 0; index < Math.max(1, words.length - SHINGLE + 1); index++) {
    const shingle = words.slice(index, index + SHINGLE).join(" ");
    counts.set(shingle, (counts.get(shingle) ?? 0) + 1);
  }
  return counts;
}
