import { beforeEach, describe, expect, test } from "vitest";
import { refreshCorpusStatistics } from "../../../../shared/knowledge/search/corpus-statistics.ts";
import { FACETS } from "../../../../shared/knowledge/search/facets.ts";
import { answerSearch } from "../../../../shared/knowledge/search/search.ts";
import type { SearchRequest } from "../../../../shared/knowledge/search/search-request.ts";
import type { Sql } from "../../../../shared/platform/database/database.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { testDatabase } from "../../../services/index.ts";
import { addPages, constantEmbedder, listedVectors, tag } from "./corpus.ts";

const COLLECTION = uuidv7();

let sql: Sql;
let ids: string[];
beforeEach(async () => {
  ({ sql } = await testDatabase({ poolSize: 2 }));
  await sql`insert into collections (id, name) values (${COLLECTION}, 'c')`;
  ids = await addPages(sql, [
    { url: "https://a.example/1", domain: "a.example", chunks: ["ebb tide", "flood tide"] },
    { url: "https://a.example/2", domain: "a.example", language: "de", chunks: ["tide"] },
    { url: "https://b.example/1", domain: "b.example", collectionId: COLLECTION, chunks: ["tide", "whale"] },
    { url: "https://c.example/1", domain: "c.example", chunks: ["krill"] },
  ]);
  await addPages(sql, [{ url: "https://hidden.example/", domain: "hidden.example", chunks: ["tide"] }], {
    active: false,
  });
  await tag(sql, "sea", "https://a.example/1");
  await tag(sql, "moon", "https://a.example/1", "https://b.example/1");
  await sql`update documents set crawled_at = '2026-04-30T23:59:59Z'`;
  await sql`update documents set crawled_at = '2026-05-01T00:00:00Z' where domain = 'b.example'`;
});

async function ask(request: Partial<SearchRequest>, byMeaning: readonly string[] = ids.slice(-2)) {
  const side = { embedder: constantEmbedder, vectors: listedVectors(() => byMeaning) };
  const asked: SearchRequest = { query: "tide", mode: "keyword", limit: 1, facets: [...FACETS], ...request };
  return await answerSearch({ sql, vectorSide: async () => side }, asked);
}

const domainsOf = async (request: Partial<SearchRequest>) => {
  const { facets } = await ask({ facets: ["domain"], ...request });
  return Object.fromEntries((facets?.values.domain ?? []).map(({ value, count }) => [value, count]));
};

describe("facets", () => {
  test("count the passages that match by domain, language, collection, month and tag", async () => {
    const { facets, total } = await ask({});
    expect(total).toEqual({ count: 4, exact: true });
    expect(facets).toEqual({
      counted: 4,
      exact: true,
      values: {
        domain: [
          { value: "a.example", count: 3 },
          { value: "b.example", count: 1 },
        ],
        language: [
          { value: "en", count: 3 },
          { value: "de", count: 1 },
        ],
        collection: [
          { value: null, count: 3 },
          { value: COLLECTION, count: 1 },
        ],
        month: [
          { value: "2026-04", count: 3 },
          { value: "2026-05", count: 1 },
        ],
        tag: [
          { value: "moon", count: 3 },
          { value: "sea", count: 2 },
          { value: null, count: 1 },
        ],
      },
    });
  });

  test("are null unless asked for, and hold what is asked for", async () => {
    const side = { embedder: constantEmbedder, vectors: listedVectors(() => []) };
    const plain = await answerSearch(
      { sql, vectorSide: async () => side },
      { query: "tide", mode: "keyword", limit: 1 },
    );
    expect(plain.facets).toBeNull();
    expect(Object.keys((await ask({ facets: ["month"] })).facets?.values ?? {})).toEqual(["month"]);
  });

  test("follow filters, phrases, excluded words, and the least score", async () => {
    expect(await domainsOf({ filter: { languages: ["de"] } })).toEqual({ "a.example": 1 });
    expect(await domainsOf({ query: '"ebb tide"' })).toEqual({ "a.example": 1 });
    expect(await domainsOf({ query: "tide -flood" })).toEqual({ "a.example": 2, "b.example": 1 });
    expect(await domainsOf({ minScore: 1_000 })).toEqual({});
    expect(await domainsOf({ query: "kraken" })).toEqual({});
    expect(await domainsOf({ query: "!!" })).toEqual({});
    expect(await domainsOf({ filter: { domains: ["none.example"] } })).toEqual({});
  });

  test("of a search by both sides count what either ranks, each once", async () => {
    expect(await domainsOf({ mode: "hybrid" })).toEqual({ "a.example": 3, "b.example": 2, "c.example": 1 });
    expect(await domainsOf({ mode: "vector" })).toEqual({ "b.example": 1, "c.example": 1 });
  });

  test("count more than is ranked, exactly, and as the filter for a value does", async () => {
    const pages = Array.from({ length: 900 }, (_, at) => ({
      url: `https://d${at % 3}.example/${at}`,
      domain: `d${at % 3}.example`,
      chunks: [at % 2 === 0 ? "tide" : "tide and flood"],
    }));
    const more = await addPages(sql, pages);
    await refreshCorpusStatistics(sql);
    const counts = { "a.example": 3, "b.example": 1, "d0.example": 300, "d1.example": 300, "d2.example": 300 };
    for (const query of ["tide", "tide flood", "tide flood kraken"]) expect(await domainsOf({ query })).toEqual(counts);
    const { facets, total } = await ask({});
    expect([facets?.exact, facets?.counted, total]).toEqual([true, 904, { count: 904, exact: true }]);
    for (const domain of ["a.example", "d1.example"] as const) {
      const filtered = await ask({ filter: { domains: [domain] } });
      expect([filtered.facets?.counted, filtered.total.count]).toEqual([counts[domain], counts[domain]]);
    }
    // meaning has more to give than was asked of it
    const cut = await ask({ mode: "hybrid" }, more);
    expect([cut.facets?.exact, cut.total.exact]).toEqual([false, false]);
    const vector = await ask({ mode: "vector" });
    expect(vector.facets).toMatchObject({ counted: 2, exact: true });
  });
});
