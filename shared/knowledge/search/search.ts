/**
 * Answers a query. The keyword side and the vector side run at the same time; what they find is fused.
 *
 * Everything that decides what is visible happens in one snapshot: the keyword query, the join of vector hits with
 * `documents_active`, and the reading of texts. So an answer holds the old set of pages or the new one, never a mix,
 * although the vectors live in another store.
 */
import type { Queryable, Sql, Transaction } from "../../platform/database/database.ts";
import { ApiError, PermanentError, RetryableError } from "../../platform/errors.ts";
import { exactWords } from "../analysis/exact-words.ts";
import type { Fusion } from "../embedders/embedder.ts";
import { embedderNotConfigured } from "../embedders/registry.ts";
import { type FusedHit, fuse, type SideHit } from "./fusion.ts";
import { type Highlight, highlight } from "./highlight.ts";
import {
  analyseQuery,
  filterDocuments,
  type KeywordQuery,
  type SearchFilter,
  searchKeywords,
} from "./keyword-search.ts";
import { type ParsedQuery, parseQuery } from "./query-syntax.ts";
import type { OpenVectorSide, VectorSide } from "./vector-side.ts";

export interface SearchDependencies {
  sql: Sql;
  /** null where embeddings are switched off. */
  vectorSide(): Promise<VectorSide>;
}

export interface SearchRequest {
  query: string;
  mode: "hybrid" | "vector" | "keyword";
  /** 1 to 100. */
  limit: number;
  /** Results below are left out: of the fused score, or of the one side's own score. */
  minScore?: number;
  filter?: SearchFilter;
}

export interface SearchResult extends FusedHit {
  documentId: string;
  url: string;
  title: string | null;
  content: string;
  sectionHeader: string | null;
  highlights: Highlight[];
}

/**
 * Fused are more hits than are asked for: a chunk that both sides rank 30th belongs above one that one side ranks 8th.
 */
const LEAST_DEPTH = 100;
/**
 * Hits of replaced or unfinished generations are joined away, so more are asked for; again and again up to this many.
 */
const MOST_VECTOR_HITS = 4_000;
/** Of hits of the index, to compare word by word where a query quotes. */
const EXACT_DEPTH = 400;
const KEYWORDS_ALONE: Fusion = { method: "linear", weights: { vector: 0, keyword: 1 } };
const STATEMENT_TIMEOUT_MS = 10_000;
/** In characters. */
const LONGEST_TITLE = 1000;

export async function search(dependencies: SearchDependencies, request: SearchRequest): Promise<SearchResult[]> {
  const { mode, limit, minScore = 0, filter = {} } = request;
  const query = parseQuery(request.query);
  const vectorSide = mode === "keyword" ? null : await dependencies.vectorSide();
  if (mode === "vector" && vectorSide === null) throw embedderNotConfigured();
  // nothing asked for: only punctuation, or only what must not stand
  if (query.text === "") return [];
  const depth = Math.max(LEAST_DEPTH, 2 * limit);
  try {
    return await dependencies.sql.begin("isolation level repeatable read read only", async (tx) => {
      const analysed = analyseQuery(tx, query, STATEMENT_TIMEOUT_MS);
      const [keyword, vector] = await both(
        mode === "vector"
          ? []
          : analysed.then(async (keywords) => {
              const hits = await searchKeywords(tx, keywords, isExact(keywords) ? EXACT_DEPTH : depth, filter);
              return (await exactHits(tx, hits, keywords)).slice(0, depth);
            }),
        vectorSide === null ? [] : searchVectors(tx, vectorSide, query, analysed, depth, filter),
      );
      const fusion = vectorSide?.embedder.descriptor.fusion ?? KEYWORDS_ALONE;
      const ranked = mode === "hybrid" ? fuse(vector, keyword, fusion) : oneSide(mode, vector, keyword);
      const best = ranked.filter(({ score }) => score >= minScore).slice(0, limit);
      return await describe(tx, best, new Set((await analysed).terms.flatMap(({ lexemes }) => lexemes)));
    });
  } catch (error) {
    throw asApiError(error);
  }
}

/** Waits for both, even where one fails: neither may still use the transaction after its end. */
async function both<A, B>(first: A | Promise<A>, second: B | Promise<B>): Promise<[A, B]> {
  const outcomes = await Promise.allSettled([first, second]);
  const [a, b] = outcomes;
  if (a.status === "rejected") throw a.reason;
  if (b.status === "rejected") throw b.reason;
  return [a.value, b.value];
}

async function searchVectors(
  tx: Transaction,
  { embedder, vectors }: OpenVectorSide,
  query: ParsedQuery,
  analysed: Promise<KeywordQuery>,
  depth: number,
  filter: SearchFilter,
): Promise<SideHit[]> {
  const vector = await embedder.embedQuery(query.text);
  if (vector === null) return [];
  const keywords = await analysed;
  for (let asked = 2 * depth; ; asked *= 2) {
    const hits = await vectors.search(vector, asked, filter);
    const visible = await exactHits(tx, await visibleHits(tx, hits, keywords.condition, filter), keywords);
    if (visible.length >= depth || hits.length < asked || asked >= MOST_VECTOR_HITS) return visible.slice(0, depth);
  }
}

async function visibleHits(
  tx: Transaction,
  hits: readonly SideHit[],
  condition: string | null,
  filter: SearchFilter,
): Promise<SideHit[]> {
  const rows = await tx<{ id: string }[]>`
    select c.id from chunks c join documents_active d on d.id = c.document_id
    where c.id = any(${hits.map(({ chunkId }) => chunkId)}::uuid[]) ${filterDocuments(tx, filter)}
    ${condition === null ? tx`` : tx`and c.fts @@ ${condition}::tsquery`}`;
  const visible = new Set(rows.map(({ id }) => id));
  return hits.filter(({ chunkId }) => visible.has(chunkId));
}

function isExact({ exactly }: KeywordQuery): boolean {
  return exactly.required.length + exactly.refused.length > 0;
}

/** Those of the hits whose texts hold each required phrase word by word, and none of the refused ones. */
async function exactHits(tx: Transaction, hits: SideHit[], query: KeywordQuery): Promise<SideHit[]> {
  if (!isExact(query) || hits.length === 0) return hits;
  const rows = await tx<{ id: string; title: string | null; header: string | null; content: string }[]>`
    select c.id, left(d.title, ${LONGEST_TITLE}) as title, left(c.section_header, ${LONGEST_TITLE}) as header, c.content
    from chunks c join documents_active d on d.id = c.document_id
    where c.id = any(${hits.map(({ chunkId }) => chunkId)}::uuid[])`;
  const { required, refused } = query.exactly;
  const matching = new Set<string>();
  for (const { id, title, header, content } of rows) {
    const texts = [title, header, content].map((text) => exactWords(text ?? ""));
    const holds = (phrase: string) => texts.some((text) => text.includes(phrase));
    if (required.every(holds) && !refused.some(holds)) matching.add(id);
  }
  return hits.filter(({ chunkId }) => matching.has(chunkId));
}

function oneSide(mode: "vector" | "keyword", vector: readonly SideHit[], keyword: readonly SideHit[]): FusedHit[] {
  return (mode === "vector" ? vector : keyword).map(({ chunkId, score }) => ({
    chunkId,
    score,
    vectorScore: mode === "vector" ? score : null,
    keywordScore: mode === "keyword" ? score : null,
    source: mode,
  }));
}

async function describe(
  tx: Queryable,
  hits: readonly FusedHit[],
  lexemes: ReadonlySet<string>,
): Promise<SearchResult[]> {
  const rows = await tx<
    (Omit<SearchResult, Exclude<keyof FusedHit, "chunkId"> | "highlights"> & { language: string })[]
  >`
    select c.id as "chunkId", d.id as "documentId", d.url, left(d.title, ${LONGEST_TITLE}) as title, c.content,
      left(c.section_header, ${LONGEST_TITLE}) as "sectionHeader", d.language
    from chunks c join documents_active d on d.id = c.document_id
    where c.id = any(${hits.map(({ chunkId }) => chunkId)}::uuid[])`;
  const found = new Map(rows.map((row) => [row.chunkId, row]));
  const results = hits.flatMap((hit) => {
    const row = found.get(hit.chunkId);
    return row === undefined ? [] : [{ ...hit, ...row }];
  });
  const highlights = await highlight(
    tx,
    results.map(({ content, language }) => ({ text: content, language })),
    lexemes,
  );
  return results.map(({ language: _, ...result }, index) => ({ ...result, highlights: highlights[index] ?? [] }));
}

/** What a caller can do about a fault of a part that the answer needs. */
function asApiError(error: unknown): unknown {
  if (error instanceof RetryableError || (error instanceof PermanentError && error.code.startsWith("EMBEDDER"))) {
    return new ApiError(503, "Vector search is not available now: try again later, or use /api/v1/search/keyword", {
      code: error.code,
      cause: error,
    });
  }
  if (error instanceof Error && "code" in error && error.code === "57014" /* query_canceled */) {
    return new ApiError(503, "The search took too long: ask for rarer words or a shorter phrase", {
      code: "SEARCH_TIMEOUT",
      cause: error,
    });
  }
  return error;
}
