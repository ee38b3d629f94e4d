/** Filters that let more documents through than a vector store is told one by one, over a real store. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { search } from "../../../../shared/knowledge/search/search.ts";
import { filterDocuments, type SearchFilter } from "../../../../shared/knowledge/search/search-filter.ts";
import { openSnapshot } from "../../../../shared/knowledge/search/search-version.ts";
import { createSqliteVectorStore } from "../../../../shared/knowledge/vector-stores/sqlite-vec.ts";
import type { VectorStore } from "../../../../shared/knowledge/vector-stores/vector-store.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { type TestDatabase, testDatabase } from "../../../services/index.ts";
import { addPages, constantEmbedder } from "./corpus.ts";

const DAY = "2026-03-03T12:00:00.000Z";
const EARLIER = "2026-01-01T00:00:00.000Z";
/** Above what is named. */
const MANY = 10_001;
/** Above what is asked for at the most. */
const NEARER = 5_000;

const vectorAt = (angle: number) => Float32Array.of(Math.cos(angle), Math.sin(angle));

let database: TestDatabase;
let store: VectorStore;
let chunkIds: string[];
beforeAll(async () => {
  database = await testDatabase();
  const { sql } = database;
  store = createSqliteVectorStore({ path: ":memory:", descriptor: { model: "constant", dimension: 2 } });
  const pages = [1, 2, 3].map((at) => `https://far.example/${at}`);
  const domain = "far.example";
  chunkIds = await addPages(
    sql,
    pages.map((url) => ({ url, domain, language: "fr", chunks: [url] })),
  );
  await sql`update documents set source = 'upload', crawled_at = ${DAY}`;
  // without chunks: they are there to be counted
  await sql`
    insert into documents (id, generation_id, generation_active, url, url_hash, domain, content, markdown, content_hash,
      language, source, crawled_at)
    select gen_random_uuid(), gen_random_uuid(), true, url, sha256(url::bytea), ${domain}, '', '', '', 'fr', 'upload', ${DAY}
    from (select 'https://far.example/many/' || at as url from generate_series(1, ${MANY}) at) pages`;
  await sql`analyze documents`;
  const rows = await sql<{ id: string; chunk: string }[]>`
    select d.id, c.id as chunk from documents d join chunks c on c.document_id = d.id`;
  const documents = new Map(rows.map(({ id, chunk }) => [chunk, id]));
  const rest = { generationId: uuidv7(), collectionId: null, url: "", title: null, tags: [] };
  const wanted = { ...rest, language: "fr", source: "upload" as const, crawledAt: DAY, domain };
  const other = { ...rest, language: "en", source: "crawl" as const, crawledAt: EARLIER, domain: "near.example" };
  await store.upsert([
    ...Array.from({ length: NEARER }, () => ({
      chunkId: uuidv7(),
      vector: vectorAt(0),
      payload: { ...other, documentId: uuidv7() },
    })),
    ...chunkIds.map((chunkId, at) => ({
      chunkId,
      vector: vectorAt(-0.5 - at / 10),
      payload: { ...wanted, documentId: documents.get(chunkId) ?? "" },
    })),
  ]);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

test.each<[string, SearchFilter]>([
  ["language", { languages: ["fr"] }],
  ["source", { sources: ["upload"] }],
  ["first date", { dateFrom: "2026-03-03T12:00:00Z" }],
  ["dates", { dateFrom: "2026-03-03T13:00:00+02:00", dateTo: "2026-03-03T12:00:00.000500Z" }],
  ["host", { urlPrefix: "https://far.example/" }],
  ["language, source and date", { languages: ["fr", "de"], sources: ["upload", "api"], dateFrom: DAY, dateTo: DAY }],
])("a filter by %s finds what is far by meaning behind thousands that are nearer", async (_name, filter) => {
  const vectorSide = async () => ({ embedder: constantEmbedder, vectors: store });
  const asked = { query: "anything", mode: "vector", limit: 5, filter } as const;
  const results = await search({ sql: database.sql, vectorSide }, asked);
  expect(results.map(({ chunkId }) => chunkId)).toEqual(chunkIds);
});

test.each<[string, SearchFilter]>([
  ["language", { languages: ["de"] }],
  ["source", { sources: ["api"] }],
  ["first date", { dateFrom: "2026-03-04T12:00:00Z" }],
  ["last date", { dateTo: "2026-03-02T12:00:00Z" }],
  ["host", { domains: ["none.example", "other.example"] }],
  ["beginning of the URL", { urlPrefix: "https://far.example/many/77" }],
  ["beginning of a host", { urlPrefix: "https://fa.exam" }],
])("a filter by %s reads no documents that do not pass", async (_name, filter) => {
  const { sql } = database;
  const plan = await sql.begin(async (tx) => {
    await openSnapshot(sql, tx, 60_000);
    const [row] = await tx`
      explain (analyze, format json)
      select id from documents_active d where true ${filterDocuments(tx, filter)} limit ${MANY}`;
    return JSON.stringify(row);
  });
  expect(plan).toContain('"Index Cond"');
  const removed = [...plan.matchAll(/"Rows Removed by [^"]*": ?(\d+)/g)].map(([, rows]) => Number(rows));
  expect(removed.filter((rows) => rows > 0)).toEqual([]);
});
