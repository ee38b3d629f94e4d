import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RRF_K, reciprocalRankFusion } from "../../../../shared/knowledge/search/fusion.ts";

const hits = (...ids: string[]) => ids.map((chunkId, index) => ({ chunkId, score: 10 - index }));
const ids = fc.uniqueArray(fc.integer({ min: 0, max: 30 }).map(String), { maxLength: 20 });
const EVEN = { vector: 1, keyword: 1 };

describe("reciprocal rank fusion", () => {
  test("sums weight / (k + rank) and keeps each side's score", () => {
    const fused = reciprocalRankFusion(hits("a", "b"), hits("b", "c"), { vector: 0.5, keyword: 1 });
    expect(fused).toEqual([
      {
        chunkId: "b",
        score: 0.5 / (RRF_K + 2) + 1 / (RRF_K + 1),
        vectorScore: 9,
        keywordScore: 10,
        source: "fused",
      },
      { chunkId: "c", score: 1 / (RRF_K + 2), vectorScore: null, keywordScore: 9, source: "keyword" },
      { chunkId: "a", score: 0.5 / (RRF_K + 1), vectorScore: 10, keywordScore: null, source: "vector" },
    ]);
  });

  test("holds every hit of either side once, best first, in an order that does not depend on chance", () => {
    fc.assert(
      fc.property(ids, ids, (vector, keyword) => {
        const fused = reciprocalRankFusion(hits(...vector), hits(...keyword), EVEN);
        expect(fused.map(({ chunkId }) => chunkId).toSorted()).toEqual(
          [...new Set([...vector, ...keyword])].toSorted(),
        );
        expect(fused.map(({ score }) => score)).toEqual(fused.map(({ score }) => score).toSorted((a, b) => b - a));
        const swapped = reciprocalRankFusion(hits(...keyword), hits(...vector), EVEN);
        expect(swapped.map(({ chunkId }) => chunkId)).toEqual(fused.map(({ chunkId }) => chunkId));
      }),
    );
  });

  test("keeps one side's own order where the other found nothing", () => {
    expect(reciprocalRankFusion([], hits("x", "y", "z"), EVEN).map(({ chunkId }) => chunkId)).toEqual(["x", "y", "z"]);
  });
});
