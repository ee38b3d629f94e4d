/**
 * How good the order of results is: Cranfield's 225 queries over 1,400 abstracts, through the product's own chunking,
 * embedding, storing and searching. A document ranks where its best chunk does.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../local/postgres/postgres.ts";
import { chunkText } from "../../shared/extract/chunks/chunk.ts";
import { chunkLimits } from "../../shared/knowledge/documents/documents.ts";
import { STATIC_DESCRIPTOR } from "../../shared/knowledge/embedders/static/static-descriptor.ts";
import { refreshCorpusStatistics } from "../../shared/knowledge/search/corpus-statistics.ts";
import { type SearchRequest, search } from "../../shared/knowledge/search/search.ts";
import { type OpenVectorSide, openVectorSide } from "../../shared/knowledge/search/vector-side.ts";
import type { VectorPoint } from "../../shared/knowledge/vector-stores/vector-store.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { connectDatabase, type Sql } from "../../shared/platform/database/database.ts";
import { migrate } from "../../shared/platform/database/migrations.ts";
import { sha256, uuidv7 } from "../../shared/platform/ids.ts";
import type { BenchOptions } from "../bench.ts";
import { type Cranfield, ndcg10, readCranfield } from "../cranfield.ts";

const EMBED_BATCH = 32;
/** Chunks asked for, so that at least ten documents come of them. */
const CHUNKS = 100;

export async function run({ data, scale }: BenchOptions): Promise<Record<string, number>> {
  if (data === undefined) throw new Error("Name the folder that holds cranfield/ with --data DIR");
  const cranfield = await readCranfield(join(data, "cranfield"));
  const directory = await mkdtemp(join(tmpdir(), "strandline-relevance-"));
  const postgres = await startPostgres({ directory, surviveMachineCrash: false });
  const sql = connectDatabase({ url: postgres.url, poolSize: 1 });
  try {
    await migrate(sql);
    const config = loadConfig({
      EMBEDDER__PROVIDER: "static",
      VECTORS__SQLITE_PATH: join(directory, "vectors.sqlite"),
    });
    const vectorSide = await openVectorSide(config)();
    if (vectorSide === null) throw new Error("The embedder is switched off");
    await index(sql, vectorSide, cranfield);
    await refreshCorpusStatistics(sql);
    const queries = cranfield.queries.slice(0, Math.ceil(cranfield.queries.length * scale));
    const figures: Record<string, number> = {};
    for (const mode of ["keyword", "vector", "hybrid"] as const) {
      const scores: number[] = [];
      for (const { id, text } of queries) {
        const ranked = await rankDocuments(sql, vectorSide, { query: text, mode, limit: CHUNKS });
        scores.push(ndcg10(ranked, cranfield.relevant.get(id) ?? new Set()));
      }
      const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
      figures[`${mode}_ndcg10`] = Math.round(mean * 10_000) / 10_000;
    }
    return figures;
  } finally {
    await sql.end();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** @returns ids of documents, each once, in the order of their best chunks */
async function rankDocuments(sql: Sql, vectorSide: OpenVectorSide, request: SearchRequest): Promise<string[]> {
  const results = await search({ sql, vectorSide: async () => vectorSide }, request);
  return [...new Set(results.map(({ url }) => url.slice(URL_PREFIX.length)))];
}

const URL_PREFIX = "https://cranfield.example/";

async function index(sql: Sql, { embedder, vectors }: OpenVectorSide, { documents }: Cranfield): Promise<void> {
  const generationId = uuidv7();
  const limits = chunkLimits({ chunk_size: 512, chunk_overlap: 50, min_chunk_size: 50 }, STATIC_DESCRIPTOR.maxTokens);
  const pending: { content: string; point: Omit<VectorPoint, "vector"> }[] = [];
  const flush = async () => {
    const contents = pending.map(({ content }) => content);
    const embedded = await embedder.embedDocuments(contents);
    await vectors.upsert(pending.map(({ point }, at) => ({ ...point, vector: embedded[at] ?? new Float32Array() })));
    pending.length = 0;
  };
  for (const { id, title, text } of documents) {
    const documentId = uuidv7();
    const url = URL_PREFIX + id;
    await sql`
      insert into documents (id, generation_id, generation_active, url, url_hash, domain, title, content, markdown,
        content_hash, language, crawled_at)
      values (${documentId}, ${generationId}, true, ${url}, ${sha256(url)}, 'cranfield.example', ${title}, ${text}, '',
        ${sha256(text)}, 'en', now())`;
    const blocks = [{ kind: "prose" as const, start: 0, end: text.length }];
    for (const chunk of chunkText({ text, sections: [], blocks }, limits)) {
      const chunkId = uuidv7();
      await sql`
        insert into chunks (id, document_id, chunk_index, content, content_hash, start_char, end_char, token_count,
          content_type, fts)
        values (${chunkId}, ${documentId}, ${chunk.index}, ${chunk.content}, ${sha256(chunk.content)}, ${chunk.startChar},
          ${chunk.endChar}, ${chunk.tokenCount}, 'prose', chunk_fts(${title}, null, ${chunk.content}))`;
      const payload = { documentId, generationId, collectionId: null, domain: "cranfield.example", url, title };
      const origin = { source: "crawl" as const, tags: [], crawledAt: new Date().toISOString() };
      pending.push({ content: chunk.content, point: { chunkId, payload: { ...payload, ...origin } } });
      if (pending.length === EMBED_BATCH) await flush();
    }
  }
  await flush();
}
