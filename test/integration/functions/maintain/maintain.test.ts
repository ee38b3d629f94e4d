import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createJobFlags } from "../../../../shared/crawl/tasks/job-flags.ts";
import { ageEmbeddingCache, analyseOutdatedChunks } from "../../../../shared/knowledge/documents/maintenance.ts";
import { STATIC_DESCRIPTOR } from "../../../../shared/knowledge/embedders/static/static-descriptor.ts";
import { search } from "../../../../shared/knowledge/search/search.ts";
import { createSqliteVectorStore } from "../../../../shared/knowledge/vector-stores/sqlite-vec.ts";
import { createStateTable } from "../../../../shared/platform/aws/state-table.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
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

test("a vector store that is down keeps maintenance from nothing but the vectors", async () => {
  const [{ sql, url }, aws] = await Promise.all([testDatabase(), testAws()]);
  vi.resetModules();
  const environment = {
    ...aws.env,
    DATABASE__POSTGRES_URL: url,
    EMBEDDER__PROVIDER: "static",
    QDRANT__URL: "http://127.0.0.1:9",
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const { handler } = await import("../../../../functions/maintain/handler.ts");
  await createJobFlags(aws.dynamo, aws.stateTable).markActive();
  await addPages(sql, [{ url: "https://a.example/", chunks: ["replaced"] }], { active: false });
  await sql`update chunks set analysis = 0`;
  await sql`insert into embedding_cache values ('m', sha256('a'), '\\x00', now() - interval '8 days')`;
  const maintained = handler({}, { getRemainingTimeInMillis: () => 300_000 });
  await expect(maintained).rejects.toThrow("could not do all its steps: removed_documents, compared_vectors");
  expect(await sql`select from documents`).toHaveLength(1);
  expect(await sql`select from embedding_cache`).toHaveLength(0);
  expect(await sql`select from chunks where analysis = 0`).toHaveLength(0);
  expect(await sql`select from corpus_statistics`).toHaveLength(1);
});

test("the vector store is compared with the rows once an hour, and at once where it is empty", async () => {
  const [{ sql, url }, aws] = await Promise.all([testDatabase(), testAws()]);
  const directory = await mkdtemp(join(tmpdir(), "strandline-maintain-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  vi.resetModules();
  const path = join(directory, "vectors.sqlite");
  const environment = {
    ...aws.env,
    DATABASE__POSTGRES_URL: url,
    EMBEDDER__PROVIDER: "static",
    QDRANT__URL: "",
    VECTORS__SQLITE_PATH: path,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const { handler } = await import("../../../../functions/maintain/handler.ts");
  await createJobFlags(aws.dynamo, aws.stateTable).markActive();
  const store = createSqliteVectorStore({ path, descriptor: STATIC_DESCRIPTOR });
  const [chunkId = ""] = await addPages(sql, [{ url: "https://a.example/", chunks: ["tide"] }]);
  const held = async () => (await store.scan(null, 10)).ids;
  const payload = {
    documentId: uuidv7(),
    generationId: uuidv7(),
    collectionId: null,
    domain: "",
    url: "",
    title: null,
  };
  const put = (id: string) =>
    store.upsert([
      {
        chunkId: id,
        vector: new Float32Array(STATIC_DESCRIPTOR.dimension).fill(1),
        payload: { ...payload, source: "crawl", language: "en", tags: [], crawledAt: "" },
      },
    ]);
  await put(chunkId);
  await put(uuidv7());
  await handler({}, { getRemainingTimeInMillis: () => 300_000 });
  expect(await held()).toEqual([chunkId]);
  const orphan = uuidv7();
  await put(orphan);
  await handler({}, { getRemainingTimeInMillis: () => 300_000 });
  expect(await held()).toHaveLength(2);
  const state = createStateTable(aws.dynamo, aws.stateTable);
  await state.put("vectors#compared", { after: null, finished_at: Date.now() - 3_700_000 });
  await handler({}, { getRemainingTimeInMillis: () => 300_000 });
  expect(await held()).toEqual([chunkId]);

  await store.drop();
  const [jobId, generationId] = [uuidv7(), uuidv7()];
  await sql`
    insert into jobs (id, kind, status, generation_id, settings) values (${jobId}, 'pages', 'completed', ${generationId}, '{}')`;
  await sql`update documents set job_id = ${jobId}, generation_id = ${generationId}`;
  await sql`
    insert into embeddings (chunk_id, state, model, dimension)
    values (${chunkId}, 'done', ${STATIC_DESCRIPTOR.model}, ${STATIC_DESCRIPTOR.dimension})`;
  await handler({}, { getRemainingTimeInMillis: () => 300_000 });
  expect(await sql`select state from embeddings`).toEqual([{ state: "pending" }]);
  expect(await sql`select unembedded_chunks as chunks from jobs`).toEqual([{ chunks: 1 }]);
  await store.close();
});
