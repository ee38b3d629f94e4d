/** Searches as the API takes and shows them. */
import { z } from "zod";
import { MAX_QUERY_LENGTH } from "../../shared/knowledge/search/query-syntax.ts";
import type { SearchResult } from "../../shared/knowledge/search/search.ts";
import { ApiError } from "../../shared/platform/errors.ts";

export const searchBodySchema = z.strictObject({
  query: z
    .string()
    .max(MAX_QUERY_LENGTH)
    .refine((text) => text.trim() !== "", "must hold more than white space"),
  collection_ids: z.array(z.uuid()).min(1).max(100).nullish(),
  domains: z.array(z.string().trim().toLowerCase().min(1).max(253)).min(1).max(100).nullish(),
  min_score: z.number().min(-1).default(0),
  limit: z.int().min(1).max(100).default(10),
  tag_ids: z.array(z.uuid()).nullish(),
  date_from: z.iso.datetime({ offset: true }).nullish(),
  date_to: z.iso.datetime({ offset: true }).nullish(),
  use_reranker: z.boolean().default(false),
  expand_chunks: z.boolean().default(false),
  cursor: z.string().nullish(),
});
type SearchBody = z.output<typeof searchBodySchema>;

/**
 * Fields of the reference that this server does not serve: asking for them is an error, so nobody takes their silence
 * for a response.
 */
const MISSING: { field: keyof SearchBody; code: string; message: string }[] = [
  {
    field: "use_reranker",
    code: "RERANKER_NOT_CONFIGURED",
    message: "No reranker is configured: leave use_reranker out",
  },
  { field: "expand_chunks", code: "NOT_SUPPORTED", message: "Chunks cannot be expanded yet: leave expand_chunks out" },
  { field: "cursor", code: "NOT_SUPPORTED", message: "Searches have one page yet: leave cursor out and raise limit" },
  { field: "tag_ids", code: "NOT_SUPPORTED", message: "Searches cannot be filtered by tag yet: leave tag_ids out" },
  {
    field: "date_from",
    code: "NOT_SUPPORTED",
    message: "Searches cannot be filtered by date yet: leave date_from out",
  },
  { field: "date_to", code: "NOT_SUPPORTED", message: "Searches cannot be filtered by date yet: leave date_to out" },
];

export function refuseWhatIsMissing(body: SearchBody): void {
  for (const { field, code, message } of MISSING) {
    const value = body[field];
    if (value !== undefined && value !== null && value !== false) {
      throw new ApiError(400, message, { code, details: { field } });
    }
  }
}

const searchResultSchema = z.object({
  document_id: z.uuid(),
  chunk_id: z.uuid(),
  url: z.string(),
  title: z.string().nullable(),
  content: z.string(),
  /** 0 to 1 for fused scores of the default embedder; of the one side in a one-sided search. */
  score: z.number(),
  /** Cosine similarity. */
  vector_score: z.number().nullable(),
  /** BM25. */
  keyword_score: z.number().nullable(),
  rerank_score: z.number().nullable(),
  source: z.enum(["vector", "keyword", "fused"]),
  /** `[start, end)` in UTF-16 code units of `content`. */
  highlights: z.array(z.tuple([z.int(), z.int()])),
  section_header: z.string().nullable(),
  expanded_chunks: z.array(z.string()).nullable(),
});

export const searchResponseSchema = z.object({
  results: z.array(searchResultSchema),
  /** Sides that gave nothing to this answer, and why: the results are those of the other one. */
  missing_sides: z.array(z.object({ side: z.enum(["vector", "keyword"]), code: z.string(), reason: z.string() })),
  total_count: z.int().nullable(),
  next_cursor: z.string().nullable(),
  query_embedding_cached: z.boolean(),
  result_cached: z.boolean(),
  latency_ms: z.number(),
});

export function searchResultJson(result: SearchResult): z.input<typeof searchResultSchema> {
  return {
    document_id: result.documentId,
    chunk_id: result.chunkId,
    url: result.url,
    title: result.title,
    content: result.content,
    score: result.score,
    vector_score: result.vectorScore,
    keyword_score: result.keywordScore,
    rerank_score: null,
    source: result.source,
    highlights: result.highlights,
    section_header: result.sectionHeader,
    expanded_chunks: null,
  };
}
