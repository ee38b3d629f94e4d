/** Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): a hit scores the sum of weight / (k + rank) over the sides that found it. */

/** The paper's constant, found not to matter much between 10 and 100. */
export const RRF_K = 60;

export interface SideHit {
  chunkId: string;
  /** In the side's own measure. */
  score: number;
}

export interface FusedHit {
  chunkId: string;
  score: number;
  vectorScore: number | null;
  keywordScore: number | null;
  source: "vector" | "keyword" | "fused";
}

/**
 * Fuses two rankings into one. Both sides come best first.
 * @returns every hit of either side once, best first; equal scores in the order of their ids
 * @example
 * const vector = [{ chunkId: "a", score: 0.9 }, { chunkId: "b", score: 0.8 }];
 * const fused = reciprocalRankFusion(vector, [{ chunkId: "b", score: 3 }], { vector: 1, keyword: 1 });
 * fused.map(({ chunkId, source }) => [chunkId, source]) // => [["b", "fused"], ["a", "vector"]]
 */
export function reciprocalRankFusion(
  vector: readonly SideHit[],
  keyword: readonly SideHit[],
  weights: { vector: number; keyword: number },
  k: number = RRF_K,
): FusedHit[] {
  const fused = new Map<string, FusedHit>();
  for (const [index, { chunkId, score }] of vector.entries()) {
    const rankScore = weights.vector / (k + index + 1);
    fused.set(chunkId, { chunkId, score: rankScore, vectorScore: score, keywordScore: null, source: "vector" });
  }
  for (const [index, { chunkId, score }] of keyword.entries()) {
    const rankScore = weights.keyword / (k + index + 1);
    const other = fused.get(chunkId);
    if (other === undefined) {
      fused.set(chunkId, { chunkId, score: rankScore, vectorScore: null, keywordScore: score, source: "keyword" });
    } else {
      fused.set(chunkId, { ...other, score: other.score + rankScore, keywordScore: score, source: "fused" });
    }
  }
  return [...fused.values()].sort((a, b) => b.score - a.score || (a.chunkId < b.chunkId ? -1 : 1));
}
