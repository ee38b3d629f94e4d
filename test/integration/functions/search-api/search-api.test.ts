import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { api } from "../../../../functions/search-api/handler.ts";
import { createStaticEmbedder } from "../../../../shared/knowledge/embedders/static/static-embedder.ts";
import { createSqliteVectorStore } from "../../../../shared/knowledge/vector-stores/sqlite-vec.ts";
import { callApi } from "../../../services/api.ts";
import { addPages } from "../../knowledge/search/corpus.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

const CONTENTS = [
  "The harbour café serves fresh bread and coffee every morning.",
  "Tides rise and fall twice a day because of the moon's gravity.",
];
const placeOf = (word: string) => {
  const start = CONTENTS[0]?.indexOf(word) ?? -1;
  return [start, start + word.length];
};
let setup: ApiSetup;
let directory: string;
let chunkIds: string[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "strandline-search-api-"));
  const path = join(directory, "vectors.sqlite");
  setup = await setUpApi({ VECTORS__SQLITE_PATH: path, EMBEDDER__PROVIDER: "static" });
  chunkIds = await addPages(setup.database.sql, [
    { url: "https://site.example/a", title: "Town", sectionHeader: "Food", chunks: CONTENTS },
  ]);
  const embedder = createStaticEmbedder();
  const vectors = createSqliteVectorStore({ path, descriptor: embedder.descriptor });
  const embedded = await embedder.embedDocuments(CONTENTS);
  await vectors.upsert(
    chunkIds.map((chunkId, at) => ({
      chunkId,
      vector: embedded[at] ?? new Float32Array(),
      payload: {
        documentId: chunkId,
        generationId: chunkId,
        collectionId: null,
        domain: "site.example",
        url: "",
        title: null,
        source: "crawl" as const,
        tags: [],
        crawledAt: "",
      },
    })),
  );
  await vectors.close();
});
afterAll(async () => {
  await setup.close();
  await rm(directory, { recursive: true, force: true });
});

const post = (json: unknown, path = "/api/v1/search", key = setup.keys.read) => callApi(api, { path, json, key });

describe("the search API", () => {
  test("answers in the shape of the reference", async () => {
    const { status, body } = await post({ query: "morning coffee" });
    expect(status).toBe(200);
    expect(body).toEqual({
      results: expect.any(Array),
      missing_sides: [],
      total_count: null,
      next_cursor: null,
      query_embedding_cached: false,
      result_cached: false,
      latency_ms: expect.any(Number),
    });
    expect(body.results[0]).toEqual({
      document_id: expect.any(String),
      chunk_id: chunkIds[0],
      url: "https://site.example/a",
      title: "Town",
      content: CONTENTS[0],
      score: expect.any(Number),
      vector_score: expect.any(Number),
      keyword_score: expect.any(Number),
      rerank_score: null,
      source: "fused",
      highlights: [placeOf("coffee"), placeOf("morning")],
      section_header: "Food",
      expanded_chunks: null,
    });
  });

  test("finds by meaning what shares no word with the query", async () => {
    const { body } = await post({ query: "what does lunar attraction do to the sea?", limit: 1 });
    expect(body.results[0]).toMatchObject({ chunk_id: chunkIds[1], source: "vector", highlights: [] });
    const { body: stopWords } = await post({ query: "what is that" });
    expect(stopWords.results).toHaveLength(2);
  });

  test("answers with one side where one side is asked for", async () => {
    const keyword = await post({ query: "coffee" }, "/api/v1/search/keyword");
    expect(keyword.body.results).toMatchObject([{ source: "keyword", vector_score: null }]);
    const vector = await post({ query: "coffee" }, "/api/v1/search/vector");
    expect(vector.body.results).toMatchObject([{ source: "vector", keyword_score: null }, { source: "vector" }]);
  });

  test("filters by domain, collection and score", async () => {
    expect((await post({ query: "coffee", domains: ["SITE.example"] })).body.results).toHaveLength(2);
    expect((await post({ query: "coffee", domains: ["other.example"] })).body.results).toEqual([]);
    expect((await post({ query: "coffee", collection_ids: [chunkIds[0]] })).body.results).toEqual([]);
    expect((await post({ query: "coffee", min_score: 0.9 })).body.results).toMatchObject([
      { source: "fused", score: 1 },
    ]);
    expect((await post({ query: "coffee", min_score: 1.1 })).body.results).toEqual([]);
  });

  test.each([
    ["no query", {}, "query"],
    ["an empty query", { query: "  " }, "query"],
    ["a query of 4001 characters", { query: "x".repeat(4001) }, "query"],
    ["a query that is no text", { query: 5 }, "query"],
    ["limit 0", { query: "a", limit: 0 }, "limit"],
    ["limit 101", { query: "a", limit: 101 }, "limit"],
    ["limit 1.5", { query: "a", limit: 1.5 }, "limit"],
    ["a collection that is no id", { query: "a", collection_ids: ["x"] }, "collection_ids"],
    ["an unknown field", { query: "a", colour: "red" }, "colour"],
  ])("refuses %s with 400 and says where", async (_name, json, where) => {
    const { status, body } = await post(json);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(where);
  });

  test.each([
    ["use_reranker", true, "RERANKER_NOT_CONFIGURED"],
    ["expand_chunks", true, "NOT_SUPPORTED"],
    ["cursor", "abc", "NOT_SUPPORTED"],
    ["tag_ids", ["01990000-0000-7000-8000-000000000001"], "NOT_SUPPORTED"],
    ["date_from", "2026-01-01T00:00:00Z", "NOT_SUPPORTED"],
  ])("says clearly that it has no %s", async (field, value, code) => {
    const { status, body } = await post({ query: "coffee", [field]: value });
    expect([status, body.code, body.details]).toEqual([400, code, { field }]);
  });

  test("wants a key that may read", async () => {
    expect((await callApi(api, { path: "/api/v1/search", json: { query: "a" } })).status).toBe(401);
    expect((await post({ query: "a" }, "/api/v1/search", "wrong")).status).toBe(401);
  });

  test.each(["the", "!!", '"', "-x", "a & b | !c:*", "x".repeat(1000), "東京"])(
    "answers the odd query %j",
    async (query) => {
      for (const path of ["/api/v1/search", "/api/v1/search/vector", "/api/v1/search/keyword"]) {
        expect((await post({ query }, path)).status).toBe(200);
      }
    },
  );

  test.each(["\0", "\ud800"])("refuses %j, which is no text", async (query) => {
    expect((await post({ query })).status).toBe(400);
  });
});
