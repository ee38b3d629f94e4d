import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeRest, encodeRest, type RestOfRanking } from "../../../../shared/knowledge/search/cursor.ts";
import type { SearchRequest } from "../../../../shared/knowledge/search/search-request.ts";
import { sha256 } from "../../../../shared/platform/ids.ts";

const REQUEST: SearchRequest = { query: "tide", mode: "hybrid", limit: 10 };
const score = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value));
const rank = fc.integer({ min: 1, max: 4_000 });
const byVector = fc.record({ vectorScore: score, vectorRank: rank });
const byKeyword = fc.record({ keywordScore: score, keywordRank: rank });
const hit = fc
  .record({ chunkId: fc.uuid(), score, vector: fc.option(byVector), keyword: byKeyword, alone: fc.boolean() })
  .map(({ chunkId, score: own, vector, keyword, alone }) => ({
    ...{ chunkId, score: own },
    ...(vector ?? { vectorScore: null, vectorRank: null }),
    ...(vector !== null && alone ? { keywordScore: null, keywordRank: null } : keyword),
    source: vector === null ? ("keyword" as const) : alone ? ("vector" as const) : ("fused" as const),
  }));
const duplicate = fc.record({ chunkId: fc.uuid(), score, similarity: score });
const listed = fc
  .tuple(hit, fc.record({ rerankScore: score, collapsed: fc.array(duplicate, { maxLength: 4 }) }, { requiredKeys: [] }))
  .map(([fused, more]) => ({ ...fused, ...more }));
const rest: fc.Arbitrary<RestOfRanking> = fc.record({
  hits: fc.array(listed, { minLength: 1, maxLength: 30 }),
  total: fc.record({ count: fc.nat(), exact: fc.boolean() }),
  missing: fc.constantFrom([], [{ side: "vector" as const, code: "EMBEDDER_UNAVAILABLE" }]),
  fusion: fc.constantFrom(null, { method: "rrf" as const, weights: { vector: 1, keyword: 2 }, rankConstant: 60 }),
});

describe("the cursor of a search", () => {
  test("holds the rest of a ranking as it is", () => {
    fc.assert(
      fc.property(rest, (ranking) => {
        expect(decodeRest(REQUEST, encodeRest(REQUEST, ranking))).toEqual(ranking);
      }),
    );
  });

  test("is refused where a character of it was changed, left out or added", () => {
    const places = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const characters = fc.constantFrom("", "A", "z", "_", "AA", "=", "é", " ");
    fc.assert(
      fc.property(rest, places, characters, fc.boolean(), (ranking, place, character, added) => {
        const cursor = encodeRest(REQUEST, ranking);
        const at = Math.floor(place * cursor.length);
        const altered = cursor.slice(0, at) + character + cursor.slice(added ? at : at + 1);
        fc.pre(altered !== cursor);
        expect(() => decodeRest(REQUEST, altered)).toThrow(expect.objectContaining({ code: "CURSOR_INVALID" }));
      }),
    );
  });

  test.each(["", "abc", "NDI5NDk2", "\0", "x".repeat(5_000), "AQ".repeat(60)])("none is %j", (text) => {
    expect(() => decodeRest(REQUEST, text)).toThrow(expect.objectContaining({ code: "CURSOR_INVALID" }));
  });

  test("is refused where what it holds is none, though its checksum is right", () => {
    const bytes = Buffer.from(encodeRest(REQUEST, fc.sample(rest, 1)[0] as RestOfRanking), "base64url");
    const forged = (...body: (string | number)[]) => {
      const json = body.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.alloc(part, 255)));
      const length = Buffer.alloc(2);
      length.writeUInt16LE(json[0]?.length ?? 0);
      const whole = Buffer.concat([bytes.subarray(0, 21), length, ...json]);
      sha256(whole.subarray(9)).copy(whole, 1, 0, 8);
      return whole.toString("base64url");
    };
    const header = '{"total":{"count":1,"exact":true},"missing":[],"fusion":null}';
    expect(decodeRest(REQUEST, forged(header)).hits).toEqual([]);
    for (const text of [forged("{"), forged("[]"), forged("{}"), forged(header, 30), forged('{"missing":7}')]) {
      expect(() => decodeRest(REQUEST, text)).toThrow(expect.objectContaining({ code: "CURSOR_INVALID" }));
    }
  });

  const [ranking] = fc.sample(rest, 1) as [RestOfRanking];

  test.each<Partial<SearchRequest>>([
    { query: "Tide" },
    { mode: "keyword" },
    { minScore: 0.1 },
    { filter: { domains: ["a.example"] } },
    { collapse: true },
    { rerankTopN: 20 },
    { fusion: { method: "rrf", weights: { vector: 1, keyword: 1 } } },
  ])("is refused by the search %j", (other) => {
    const ask = () => decodeRest({ ...REQUEST, ...other }, encodeRest(REQUEST, ranking));
    expect(ask).toThrow(expect.objectContaining({ code: "CURSOR_OF_ANOTHER_SEARCH" }));
  });

  test.each<Partial<SearchRequest>>([
    { limit: 3 },
    { expand: true },
    { cursor: "x" },
    { minScore: 0 },
    { collapse: false },
  ])("is taken by the search %j, which ranks the same", (other) => {
    expect(decodeRest({ ...REQUEST, ...other }, encodeRest(REQUEST, ranking)).hits).toEqual(ranking.hits);
  });
});
