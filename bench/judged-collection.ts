/** A collection of judged queries in an empty database, indexed as pages are, and how well searches rank it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../local/postgres/postgres.ts";
import { chunkText } from "../shared/extract/chunks/chunk.ts";
import { ANALYSIS, chunkVectors, keywordText } from "../shared/knowledge/analysis/keyword-vectors.ts";
import { chunkLimits } from "../shared/knowledge/documents/documents.ts";
import { STATIC_DESCRIPTOR } from "../shared/knowledge/embedders/static/static-descriptor.ts";
import { refreshCorpusStatistics } from "../shared/knowledge/search/corpus-statistics.ts";
import { search } from "../shared/knowledge/search/search.ts";
import type { SearchRequest } from "../shared/knowledge/search/search-request.ts";
import { type OpenVectorSide, openVectorSide } from "../shared/knowledge/search/vector-side.ts";
import type { VectorPoint } from "../shared/knowledge/vector-stores/vector-store.ts";
import { loadConfig } from "../shared/platform/config.ts";
import { connectDatabase, type Sql } from "../shared/platform/database/database.ts";
import { migrate } from "../shared/platform/database/migrations.ts";
import { uuidv7 } from "../shared/platform/ids.ts";

export interface JudgedCollection {
  /** ISO 639-1. */
  language: string;
  documents: JudgedDocument[];
  queries: { id: string; text: string }[];
  /** Relevant documents by query. */
  relevant: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface JudgedDocument {
  id: string;
  title: string;
  text: string;
}

const EMBED_BATCH = 32;
const CHUNK_TOKENS = 512;
const DOCUMENTS_PER_INSERT = 200;
/** Chunks asked for, so that at least ten documents come of them. */
const CHUNKS = 100;
const URL_PREFIX = "https://judged.example/";

interface IndexOptions {
  /** Whether the chunks get vectors; they do where nothing is said. */
  vectors?: boolean;
  /** In tokens, with an overlap and a least size of a tenth of it; 512 where nothing is said. */
  chunkSize?: number;
}

export interface SearchEngine {
  sql: Sql;
  vectorSide: OpenVectorSide;
  index(documents: readonly JudgedDocument[], language: string, options?: IndexOptions): Promise<void>;
  /** Of the first ten results, the mean over the queries. */
  ndcg10(collection: JudgedCollection, mode: SearchRequest["mode"]): Promise<number>;
  close(): Promise<void>;
}

export async function openSearchEngine(): Promise<SearchEngine> {
  const directory = await mkdtemp(join(tmpdir(), "strandline-judged-"));
  const postgres = await startPostgres({ directory, surviveMachineCrash: false });
  const sql = connectDatabase({ url: postgres.url, poolSize: 1 });
  await migrate(sql);
  const config = loadConfig({ EMBEDDER__PROVIDER: "static", VECTORS__SQLITE_PATH: join(directory, "vectors.sqlite") });
  const vectorSide = await openVectorSide(config)();
  if (vectorSide === null) throw new Error("The embedder is switched off");
  return {
    sql,
    vectorSide,
    async index(documents, language, { vectors = true, chunkSize = CHUNK_TOKENS } = {}) {
      for (let start = 0; start < documents.length; start += DOCUMENTS_PER_INSERT) {
        await insert(
          sql,
          vectors ? vectorSide : null,
          documents.slice(start, start + DOCUMENTS_PER_INSERT),
          language,
          chunkSize,
        );
      }
      await refreshCorpusStatistics(sql);
    },
    async ndcg10({ queries, relevant }, mode) {
      let sum = 0;
      for (const { id, text } of queries) {
        const results = await search({ sql, vectorSide: async () => vectorSide }, { query: text, mode, limit: CHUNKS });
        // a document ranks where its best chunk does
        const ranked = [...new Set(results.map(({ url }) => url.slice(URL_PREFIX.length)))];
        sum += ndcg10(ranked, relevant.get(id) ?? new Set());
      }
      return Math.round((sum / queries.length) * 10_000) / 10_000;
    },
    async close() {
      await vectorSide.vectors.close();
      await sql.end();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const GENERATION = uuidv7();

async function insert(
  sql: Sql,
  vectorSide: OpenVectorSide | null,
  documents: readonly JudgedDocument[],
  language: string,
  chunkSize: number,
): Promise<void> {
  const tenth = Math.floor(chunkSize / 10);
  const sizes = { chunk_size: chunkSize, chunk_overlap: tenth, min_chunk_size: tenth };
  const limits = chunkLimits(sizes, STATIC_DESCRIPTOR.maxTokens);
  const rows = documents.map(({ id, title, text }) => ({ id: uuidv7(), url: URL_PREFIX + id, title, text }));
  const chunks = rows.flatMap(({ id: document_id, title, text }) =>
    chunkText({ text, sections: [], blocks: [{ kind: "prose", start: 0, end: text.length }] }, limits).map((chunk) => ({
      id: uuidv7(),
      document_id,
      title,
      content: chunk.content,
      row: {
        chunk_index: chunk.index,
        start_char: chunk.startChar,
        end_char: chunk.endChar,
        token_count: chunk.tokenCount,
      },
    })),
  );
  const vectors = await chunkVectors(
    sql,
    chunks.map(({ title, content }) => ({ text: keywordText(title, null, content), language })),
  );
  await sql`insert into document_languages values (${language}) on conflict do nothing`;
  await sql`
    insert into documents (id, generation_id, generation_active, url, url_hash, domain, title, content, markdown,
      content_hash, language, crawled_at)
    select id, ${GENERATION}::uuid, true, url, sha256(url::bytea), 'judged.example', title, text, '', sha256(convert_to(text, 'UTF8')),
      ${language}, now()
    from jsonb_to_recordset(${sql.json(rows)}) as d (id uuid, url text, title text, text text)`;
  await sql`
    insert into chunks (id, document_id, chunk_index, content, content_hash, start_char, end_char, token_count, content_type,
      fts, analysis)
    select id, document_id, chunk_index, content, sha256(convert_to(content, 'UTF8')), start_char, end_char, token_count, 'prose',
      fts::tsvector, ${ANALYSIS}
    from jsonb_to_recordset(${sql.json(
      chunks.map(({ id, document_id, content, row }, at) => ({
        id,
        document_id,
        content,
        ...row,
        fts: vectors[at] ?? "",
      })),
    )}) as c (id uuid, document_id uuid, chunk_index int, content text, start_char int, end_char int, token_count int, fts text)`;
  if (vectorSide === null) return;
  const urls = new Map(rows.map(({ id, url, title }) => [id, { url, title }]));
  for (let start = 0; start < chunks.length; start += EMBED_BATCH) {
    const batch = chunks.slice(start, start + EMBED_BATCH);
    const embedded = await vectorSide.embedder.embedDocuments(batch.map(({ content }) => content));
    const points = batch.flatMap(({ id, document_id }, at): VectorPoint[] => {
      const vector = embedded[at];
      const { url = "", title = null } = urls.get(document_id) ?? {};
      const payload = { documentId: document_id, generationId: GENERATION, collectionId: null, url, title };
      const origin = {
        domain: "judged.example",
        source: "crawl" as const,
        language,
        tags: [],
        crawledAt: new Date().toISOString(),
      };
      return vector == null ? [] : [{ chunkId: id, vector, payload: { ...payload, ...origin } }];
    });
    await vectorSide.vectors.upsert(points);
  }
}

/** Normalised discounted cumulative gain of the first ten; a relevant document gains 1, whatever its grade. */
export function ndcg10(ranked: readonly string[], relevant: ReadonlySet<string>): number {
  const discount = (position: number) => 1 / Math.log2(position + 2);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const ideal = sum(Array.from({ length: Math.min(10, relevant.size) }, (_, position) => discount(position)));
  const gained = sum(ranked.slice(0, 10).map((id, position) => (relevant.has(id) ? discount(position) : 0)));
  return ideal === 0 ? 0 : gained / ideal;
}
