import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuse, linearFusion, RRF_K, reciprocalRankFusion } from "../../../../shared/knowledge/search/fusion.ts";

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
        vectorRank: 2,
        keywordRank: 1,
        source: "fused",
      },
      {
        chunkId: "c",
        score: 1 / (RRF_K + 2),
        vectorScore: null,
        keywordScore: 9,
        vectorRank: null,
        keywordRank: 2,
        source: "keyword",
      },
      {
        chunkId: "a",
        score: 0.5 / (RRF_K + 1),
        vectorScore: 10,
        keywordScore: null,
        vectorRank: 1,
        keywordRank: null,
        source: "vector",
      },
    ]);
  });

  test("a smaller constant lets the first ranks stand out more", () => {
    const [vector, keyword] = [hits("a", "b", "c"), hits("x", "b", "c")];
    const first = (rankConstant: number) =>
      fuse(vector, keyword, { method: "rrf", weights: { vector: 1, keyword: 3 }, rankConstant })[0];
    expect(first(1)).toMatchObject({ chunkId: "x", score: 1.5 });
    expect(first(60)).toMatchObject({ chunkId: "b", score: 4 / 62 });
  });

  test.each(["rrf", "linear"] as const)("holds every hit of either side once, best first: %s", (method) => {
    const fusion = { method, weights: EVEN };
    fc.assert(
      fc.property(ids, ids, (vector, keyword) => {
        const fused = fuse(hits(...vector), hits(...keyword), fusion);
        expect(fused.map(({ chunkId }) => chunkId).toSorted()).toEqual(
          [...new Set([...vector, ...keyword])].toSorted(),
        );
        expect(fused.map(({ score }) => score)).toEqual(fused.map(({ score }) => score).toSorted((a, b) => b - a));
        const swapped = fuse(hits(...keyword), hits(...vector), fusion);
        expect(swapped.map(({ chunkId }) => chunkId)).toEqual(fused.map(({ chunkId }) => chunkId));
      }),
    );
  });

  test("keeps one side's own order where the other found nothing", () => {
    expect(reciprocalRankFusion([], hits("x", "y", "z"), EVEN).map(({ chunkId }) => chunkId)).toEqual(["x", "y", "z"]);
  });
});

describe("linear fusion", () => {
  test("weighs each side's scores between its worst and its best", () => {
    const vector = [
      { chunkId: "a", score: 0.9 },
      { chunkId: "b", score: 0.5 },
      { chunkId: "c", score: 0.1 },
    ];
    const keyword = [
      { chunkId: "b", score: 30 },
      { chunkId: "d", score: 12 },
      { chunkId: "c", score: 10 },
    ];
    const fused = linearFusion(vector, keyword, { vector: 0.4, keyword: 0.6 });
    expect(fused.map(({ chunkId }) => chunkId)).toEqual(["b", "a", "d", "c"]);
    expect(fused.map(({ score }) => score)).toEqual([0.8, 0.4, 0.06, 0].map((score) => expect.closeTo(score, 10)));
    expect(fused[0]).toMatchObject({ vectorScore: 0.5, keywordScore: 30, source: "fused" });
  });

  test("a side's only hit, or hits that are all alike, have the side's whole weight", () => {
    const alike = [
      { chunkId: "a", score: 2 },
      { chunkId: "b", score: 2 },
    ];
    const fused = linearFusion([{ chunkId: "c", score: -0.2 }], alike, { vector: 0.3, keyword: 0.7 });
    expect(fused.map(({ chunkId, score }) => [chunkId, score])).toEqual([
      ["a", 0.7],
      ["b", 0.7],
      ["c", 0.3],
    ]);
  });
});
