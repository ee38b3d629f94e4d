/** Puts the best results of a ranking in the order of a model that reads query and passage together. */
import type { Reranker } from "../rerankers/reranker.ts";
import type { SearchResult } from "./results.ts";
import { type MissingSide, outcomeOf } from "./sides.ts";

/**
 * @param topN so many of the best are read
 * @returns the results as they are where the reranker gives nothing, and why
 */
export async function rerankResults(
  reranker: Reranker,
  query: string,
  results: readonly SearchResult[],
  topN: number,
): Promise<{ results: SearchResult[]; missing: MissingSide[] }> {
  const best = results.slice(0, topN);
  if (best.length === 0) return { results: [], missing: [] };
  const texts = best.map(({ content }) => content);
  const outcome = await outcomeOf("reranker", reranker.rerank(query, texts));
  if ("missing" in outcome) return { results: [...results], missing: [outcome.missing] };
  const scored = best.map((result, at) => ({ ...result, rerankScore: outcome.value[at] ?? 0 }));
  return { results: [...scored.sort((a, b) => b.rerankScore - a.rerankScore), ...results.slice(topN)], missing: [] };
}
