/** Documents with chunks in a test's database, and an embedder and store of a test's own making. */
import { ANALYSIS, chunkVectors, keywordText } from "../../../../shared/knowledge/analysis/keyword-vectors.ts";
import type { Embedder } from "../../../../shared/knowledge/embedders/embedder.ts";
import type { VectorFilter, VectorHit, VectorStore } from "../../../../shared/knowledge/vector-stores/vector-store.ts";
import type { Sql } from "../../../../shared/platform/database/database.ts";
import { sha256, uuidv7 } from "../../../../shared/platform/ids.ts";

export interface Page {
  url: string;
  title?: string;
  domain?: string;
  collectionId?: string;
  chunks: string[];
  sectionHeader?: string;
  /** "en" where nothing is said. */
  language?: string;
}

/** @returns the ids of the chunks, in the order of the pages */
export async function addPages(
  sql: Sql,
  pages: readonly Page[],
  { generationId = uuidv7(), active = true }: { generationId?: string; active?: boolean } = {},
): Promise<string[]> {
  const ids: string[] = [];
  for (const page of pages) {
    const documentId = uuidv7();
    const language = page.language ?? "en";
    await sql`insert into document_languages values (${language}) on conflict do nothing`;
    await sql`
      insert into documents (id, generation_id, generation_active, url, url_hash, domain, title, content, markdown,
        content_hash, language, collection_id, crawled_at)
      values (${documentId}, ${generationId}, ${active}, ${page.url}, ${sha256(page.url)}, ${page.domain ?? "site.example"},
        ${page.title ?? null}, '', '', ${sha256("")}, ${language}, ${page.collectionId ?? null}, now())`;
    for (const [index, content] of page.chunks.entries()) {
      const id = uuidv7();
      ids.push(id);
      const header = page.sectionHeader ?? null;
      const words = { text: keywordText(page.title ?? null, header, content), language };
      const [vector = ""] = await chunkVectors(sql, [words]);
      await sql`
        insert into chunks (id, document_id, chunk_index, content, content_hash, start_char, end_char, token_count,
          section_header, content_type, fts, analysis)
        values (${id}, ${documentId}, ${index}, ${content}, ${sha256(content)}, 0, ${content.length},
          ${content.split(" ").length}, ${header}, 'prose', ${vector}::tsvector, ${ANALYSIS})`;
    }
  }
  return ids;
}

/** Thousands of chunks of one page in English, as `addPages` adds a few. */
export async function addChunks(sql: Sql, url: string, contents: readonly string[]): Promise<void> {
  await addPages(sql, [{ url, chunks: [] }]);
  const vectors = await chunkVectors(
    sql,
    contents.map((content) => ({ text: keywordText(null, null, content), language: "en" })),
  );
  await sql`
    insert into chunks (id, document_id, chunk_index, content, content_hash, start_char, end_char, token_count,
      content_type, fts, analysis)
    select id, (select id from documents where url = ${url}), at - 1, content, sha256(content::bytea), 0, length(content),
      array_length(string_to_array(content, ' '), 1), 'prose', vector::tsvector, ${ANALYSIS}
    from unnest(${contents.map(() => uuidv7())}::uuid[], ${[...contents]}::text[], ${vectors}::text[])
      with ordinality as chunk (id, content, vector, at)`;
}

/** @returns the id of the tag */
export async function tag(sql: Sql, name: string, ...urls: string[]): Promise<string> {
  await sql`insert into tags (id, name) values (${uuidv7()}, ${name}) on conflict do nothing`;
  const [row] = await sql<{ id: string }[]>`select id from tags where name = ${name}`;
  const id = row?.id ?? "";
  await sql`insert into document_tags select id, ${id} from documents where url = any(${urls})`;
  return id;
}

/** A store whose hits a test lists, best first; it gives as many as are asked for. */
export function listedVectors(
  chunkIds: () => readonly string[],
): VectorStore & { asked: number[]; filters: VectorFilter[] } {
  const asked: number[] = [];
  const filters: VectorFilter[] = [];
  return {
    asked,
    filters,
    async upsert() {},
    async search(_vector, limit, filter = {}): Promise<VectorHit[]> {
      asked.push(limit);
      filters.push(filter);
      return chunkIds()
        .slice(0, limit)
        .map((chunkId, index) => ({ chunkId, score: 1 - index / 10_000 }));
    },
    async read() {
      return new Map();
    },
    async deleteDocuments() {},
    async deletePoints() {},
    async scan() {
      return { ids: [...chunkIds()].toSorted(), labels: new Map(), more: false };
    },
    async drop() {},
    async isEmpty() {
      return chunkIds().length === 0;
    },
    async check() {},
    async close() {},
  };
}

export const constantEmbedder: Embedder = {
  descriptor: {
    model: "constant",
    dimension: 2,
    maxTokens: 100,
    languages: null,
    cached: true,
    fusion: { method: "rrf", weights: { vector: 1, keyword: 1 } },
  },
  async embedDocuments(texts) {
    return texts.map(() => Float32Array.of(1, 0));
  },
  async embedQuery() {
    return Float32Array.of(1, 0);
  },
  async check() {},
};
