import { describe, expect, test, vi } from "vitest";
import { search } from "../../../../shared/knowledge/search/search.ts";
import type { AskedTags } from "../../../../shared/knowledge/search/search-filter.ts";
import { RetryableError } from "../../../../shared/platform/errors.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { testDatabase } from "../../../services/index.ts";
import { addPages, constantEmbedder, listedVectors, tag } from "./corpus.ts";

const pagesOf = (version: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    url: `https://site.example/${index}`,
    title: version,
    chunks: [`tide pool ${version} number ${index}`],
  }));

describe("what a search sees", () => {
  test("fuses both sides and keeps each one's score", async () => {
    const { sql } = await testDatabase();
    const [first = "", second = "", third = ""] = await addPages(sql, pagesOf("calm", 3));
    const vectors = listedVectors(() => [third, first]);
    const results = await search(
      { sql, vectorSide: async () => ({ embedder: constantEmbedder, vectors }) },
      { query: '"number 0" pool', mode: "hybrid", limit: 10 },
    );
    // the phrase binds the vector side as well
    expect(results).toEqual([
      expect.objectContaining({
        chunkId: first,
        source: "fused",
        vectorScore: expect.closeTo(0.9999, 4),
        keywordScore: expect.any(Number),
        title: "calm",
        url: "https://site.example/0",
      }),
    ]);
    const all = await search(
      { sql, vectorSide: async () => ({ embedder: constantEmbedder, vectors }) },
      { query: "pool", mode: "hybrid", limit: 10 },
    );
    expect(new Map(all.map(({ chunkId, source }) => [chunkId, source]))).toEqual(
      new Map([
        [first, "fused"],
        [second, "keyword"],
        [third, "fused"],
      ]),
    );
    expect(all.map(({ score }) => score)).toEqual(all.map(({ score }) => score).toSorted((a, b) => b - a));
    const vectorOnly = await search(
      { sql, vectorSide: async () => ({ embedder: constantEmbedder, vectors }) },
      { query: "the", mode: "vector", limit: 1, minScore: 0.5 },
    );
    expect(vectorOnly).toMatchObject([{ chunkId: third, score: 1, keywordScore: null, source: "vector" }]);
  });

  test("a recrawl under way does not thin the results: more vectors are asked for", async () => {
    const { sql } = await testDatabase();
    const hidden = await addPages(sql, pagesOf("new", 150), { active: false });
    const shown = await addPages(sql, pagesOf("old", 70));
    const vectors = listedVectors(() => [...hidden, ...shown]);
    const results = await search(
      { sql, vectorSide: async () => ({ embedder: constantEmbedder, vectors }) },
      { query: "anything", mode: "vector", limit: 20 },
    );
    expect(results.map(({ chunkId }) => chunkId)).toEqual(shown.slice(0, 20));
    expect(vectors.asked).toEqual([200, 400]);
  });

  test("hidden chunks that hold the words take no place from those that are shown", async () => {
    const { sql } = await testDatabase();
    const chunks = Array.from({ length: 650 }, () => "krill krill krill");
    await addPages(sql, [{ url: "https://site.example/hidden", chunks }], { active: false });
    const shown = await addPages(sql, [{ url: "https://site.example/shown", chunks: ["krill beside the ice"] }]);
    const results = await search({ sql, vectorSide: async () => null }, { query: "krill", mode: "keyword", limit: 10 });
    expect(results.map(({ chunkId }) => chunkId)).toEqual(shown);
  });

  test("searches during a swap of generations never see a mix", async () => {
    const { sql } = await testDatabase({ poolSize: 8 });
    const generations = [uuidv7(), uuidv7()];
    const ids = [
      ...(await addPages(sql, pagesOf("ebb", 12), { generationId: generations[0] ?? "" })),
      ...(await addPages(sql, pagesOf("flood", 12), { generationId: generations[1] ?? "", active: false })),
    ];
    const vectors = listedVectors(() => ids.toSorted((a, b) => (a.slice(-4) < b.slice(-4) ? -1 : 1)));
    const dependencies = { sql, vectorSide: async () => ({ embedder: constantEmbedder, vectors }) };
    let swaps = 0;
    let stop = false;
    const swapping = (async () => {
      while (!stop) {
        const [before = "", after = ""] = swaps % 2 === 0 ? generations : generations.toReversed();
        await sql.begin(async (tx) => {
          await tx`update documents set generation_active = false where generation_id = ${before}`;
          await tx`update documents set generation_active = true where generation_id = ${after}`;
        });
        swaps++;
      }
    })();
    const seen = new Set<string>();
    const searchUntilBoth = async () => {
      for (let round = 0; round < 60; round++) {
        const mode = (["hybrid", "keyword", "vector"] as const)[round % 3] ?? "hybrid";
        const results = await search(dependencies, { query: "tide pool", mode, limit: 24 });
        const versions = new Set(results.map(({ title }) => title ?? ""));
        expect([results.length, versions.size]).toEqual([12, 1]);
        for (const version of versions) seen.add(version);
      }
    };
    await Promise.all([searchUntilBoth(), searchUntilBoth(), searchUntilBoth()]).finally(() => {
      stop = true;
    });
    await swapping;
    expect(swaps).toBeGreaterThan(3);
    expect(seen).toEqual(new Set(["ebb", "flood"]));
  });

  test("a vector store is told the documents of a tag, or the tag where there are too many of them", async () => {
    const { sql } = await testDatabase();
    const [first = "", second = ""] = await addPages(sql, pagesOf("calm", 2));
    const vectors = listedVectors(() => [second, first]);
    const dependencies = { sql, vectorSide: async () => ({ embedder: constantEmbedder, vectors }) };
    const few = await tag(sql, "few", "https://site.example/0");
    const ask = async (tags: AskedTags) => {
      const found = await search(dependencies, { query: "pool", mode: "vector", limit: 5, filter: { tags } });
      return { found: found.map(({ chunkId }) => chunkId), filter: vectors.filters.at(-1) };
    };
    const [document] = await sql<{ id: string }[]>`select id from documents where url = 'https://site.example/0'`;
    const named = { found: [first], filter: { documentIds: [document?.id] } };
    expect(await ask({ ids: [few], names: [], match: "any" })).toEqual(named);
    await sql`
      insert into documents (id, generation_id, generation_active, url, url_hash, domain, content, markdown, content_hash,
        language, crawled_at)
      select gen_random_uuid(), gen_random_uuid(), true, url, sha256(url::bytea), 'many.example', '', '', '', 'en', now()
      from (select 'https://many.example/' || at as url from generate_series(1, 10001) at) pages`;
    const many = await tag(sql, "many");
    await sql`insert into document_tags select id, ${many} from documents where url <> 'https://site.example/1'`;
    expect(await ask({ ids: [many], names: [], match: "any" })).toEqual({ found: [first], filter: { anyTag: [many] } });
    expect(await ask({ ids: [], names: ["many"], match: "all" })).toEqual({
      found: [first],
      filter: { allTags: [many] },
    });
    expect(await ask({ ids: [few], names: ["many"], match: "all" })).toEqual(named);
  });

  test("an embedder that is down is a clear error, and the connection stays usable", async () => {
    const { sql } = await testDatabase({ poolSize: 1 });
    await addPages(sql, pagesOf("calm", 2));
    const embedder = { ...constantEmbedder };
    vi.spyOn(embedder, "embedQuery").mockRejectedValue(new RetryableError("down", { code: "EMBEDDER_UNAVAILABLE" }));
    const dependencies = { sql, vectorSide: async () => ({ embedder, vectors: listedVectors(() => []) }) };
    for (let round = 0; round < 3; round++) {
      await expect(search(dependencies, { query: "pool", mode: "hybrid", limit: 5 })).rejects.toMatchObject({
        status: 503,
        code: "EMBEDDER_UNAVAILABLE",
      });
    }
    expect(await search(dependencies, { query: "pool", mode: "keyword", limit: 5 })).toHaveLength(2);
  });
});
