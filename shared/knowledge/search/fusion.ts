/** Makes one ranking of two: by rank, or by what the sides themselves say of their hits. */
import type { Fusion } from "../embedders/embedder.ts";

/** The constant of the paper on reciprocal rank fusion, found not to matter much between 10 and 100. */
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
  /** From 1, among the hits of the side; null where it did not find the chunk. */
  vectorRank: number | null;
  keywordRank: number | null;
  source: "vector" | "keyword" | "fused";
}

/** Fuses two rankings, each best first, as the embedder's descriptor asks for. */
export function fuse(vector: readonly SideHit[], keyword: readonly SideHit[], fusion: Fusion): FusedHit[] {
  const { method, weights, rankConstant } = fusion;
  return method === "linear"
    ? linearFusion(vector, keyword, weights)
    : reciprocalRankFusion(vector, keyword, weights, rankConstant);
}

/**
 * A hit scores the sum of weight × its share of the way from the side's worst score to its best: a side that is sure
 * says more than one that is not, which ranks do not show.
 * @returns every hit of either side once, best first; equal scores in the order of their ids
 * @example
 * const vector = [{ chunkId: "a", score: 0.9 }, { chunkId: "b", score: 0.1 }];
 * const fused = linearFusion(vector, [{ chunkId: "b", score: 3 }], { vector: 0.3, keyword: 0.7 });
 * fused.map(({ chunkId, score }) => [chunkId, score]) // => [["b", 0.7], ["a", 0.3]]
 */
export function linearFusion(
  vector: readonly SideHit[],
  keyword: readonly SideHit[],
  weights: Fusion["weights"],
): FusedHit[] {
  return sumOf(shares(vector, weights.vector), shares(keyword, weights.keyword));
}

/**
 * A hit scores the sum of weight / (k + rank) over the sides that found it (Cormack, Clarke, Büttcher 2009).
 * @returns every hit of either side once, best first; equal scores in the order of their ids
 * @example
 * const vector = [{ chunkId: "a", score: 0.9 }, { chunkId: "b", score: 0.8 }];
 * const fused = reciprocalRankFusion(vector, [{ chunkId: "b", score: 3 }], { vector: 1, keyword: 1 });
 * fused.map(({ chunkId, source }) => [chunkId, source]) // => [["b", "fused"], ["a", "vector"]]
 */
export function reciprocalRankFusion(
  vector: readonly SideHit[],
  keyword: readonly SideHit[],
  weights: Fusion["weights"],
  k: number = RRF_K,
): FusedHit[] {
  const ranked = (hits: readonly SideHit[], weight: number): Share[] =>
    hits.map((hit, index) => ({ ...hit, share: weight / (k + index + 1) }));
  return sumOf(ranked(vector, weights.vector), ranked(keyword, weights.keyword));
}

/** What a side gives a hit. */
interface Share extends SideHit {
  share: number;
}

function shares(hits: readonly SideHit[], weight: number): Share[] {
  const best = hits[0]?.score ?? 0;
  const worst = hits.at(-1)?.score ?? 0;
  const range = best - worst;
  return hits.map((hit) => ({ ...hit, share: weight * (range > 0 ? (hit.score - worst) / range : 1) }));
}

function sumOf(vector: readonly Share[], keyword: readonly Share[]): FusedHit[] {
  const fused = new Map<string, FusedHit>();
  for (const [index, { chunkId, score, share }] of vector.entries()) {
    const byVector = { score: share, vectorScore: score, vectorRank: index + 1 };
    fused.set(chunkId, { chunkId, ...byVector, keywordScore: null, keywordRank: null, source: "vector" });
  }
  for (const [index, { chunkId, score, share }] of keyword.entries()) {
    const other = fused.get(chunkId);
    const byKeyword = { keywordScore: score, keywordRank: index + 1 };
    if (other === undefined) {
      const hit = { chunkId, score: share, vectorScore: null, vectorRank: null, ...byKeyword };
      fused.set(chunkId, { ...hit, source: "keyword" });
    } else {
      fused.set(chunkId, { ...other, score: other.score + share, ...byKeyword, source: "fused" });
    }
  }
  return [...fused.values()].sort((a, b) => b.score - a.score || (a.chunkId < b.chunkId ? -1 : 1));
}
