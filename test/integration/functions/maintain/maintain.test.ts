import { expect, test, vi } from "vitest";
import { createJobFlags } from "../../../../shared/crawl/tasks/job-flags.ts";
import { ageEmbeddingCache, analyseOutdatedChunks } from "../../../../shared/knowledge/documents/maintenance.ts";
import { search } from "../../../../shared/knowledge/search/search.ts";
import { testAws, testDatabase } from "../../../services/index.ts";
import { addPages } from "../../knowledge/search/corpus.ts";

test("cached embeddings go after a week", async () => {
  const { sql } = await testDatabase();
  await sql`
    insert into embedding_cache (model, content_hash, vector, created_at)
    select 'm', sha256(n::text::bytea), '\\x00', now() - n * interval '1 day' from generate_series(0, 20) n`;
  expect(await ageEmbeddingCache(sql, 7 * 86_400, () => true)).toBe(14);
  expect(await sql`select from embedding_cache`).toHaveLength(7);
});

test("chunks of an earlier analysis are found while maintenance makes them anew, and better then", async () => {
  const { sql } = await testDatabase();
  const text = "Größe façade und 日本語 Straßen";
  await addPages(sql, [{ url: "https://a.example/", language: "de", chunks: [text] }]);
  await sql`update chunks set analysis = 0, fts = chunk_fts(null, null, content)`;
  const found = async (query: string) =>
    (await search({ sql, vectorSide: async () => null }, { query, mode: "keyword", limit: 5 })).length;
  const asBefore = ["Größe", "façade", "日本語", '"Größe façade"'];
  for (const query of asBefore) expect([query, await found(query)]).toEqual([query, 1]);
  expect(await found("strasse")).toBe(0);
  expect(await analyseOutdatedChunks(sql, () => false)).toBe(0);
  expect(await analyseOutdatedChunks(sql, () => true)).toBe(1);
  expect(await analyseOutdatedChunks(sql, () => true)).toBe(0);
  for (const query of [...asBefore, "strasse", "grösse", "facade", "日本"]) {
    expect([query, await found(query)]).toEqual([query, 1]);
  }
});

test("chunks get what tells how much they can score, those of the earliest analysis first", async () => {
  const { sql } = await testDatabase();
  const chunks = ["water water water", "water", "soil"];
  await addPages(sql, [{ url: "https://a.example/", chunks }]);
  const vectors = async () =>
    (await sql`select analysis, fts::text from chunks order by chunk_index`).map((row) => ({ ...row }));
  const made = await vectors();
  expect(made).toMatchObject([
    { fts: "'3^water' '^6' 'water':1,2,3" },
    { fts: "'^0' 'water':1" },
    { fts: "'^0' 'soil':1" },
  ]);
  await sql`update chunks set analysis = chunk_index % 2, fts = to_tsvector('english', content)`;
  expect(await analyseOutdatedChunks(sql, () => true)).toBe(3);
  expect(await vectors()).toEqual(made);
});

test("maintenance leaves the database alone while no job marks the system as active, and runs once one does", async () => {
  const [{ sql, url }, aws] = await Promise.all([testDatabase(), testAws()]);
  const environment = { ...aws.env, DATABASE__POSTGRES_URL: url, EMBEDDER__PROVIDER: "none" };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const { handler } = await import("../../../../functions/maintain/handler.ts");
  const context = { getRemainingTimeInMillis: () => 300_000 };
  const refreshed = async () => (await sql`select from corpus_statistics`).length;
  await handler({}, context);
  expect(await refreshed()).toBe(0);
  await createJobFlags(aws.dynamo, aws.stateTable).markActive();
  await handler({}, context);
  expect(await refreshed()).toBe(1);
});
