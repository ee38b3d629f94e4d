/** The route that gives a language model what it needs to answer a question, with its sources. */
import { z } from "zod";
import { buildContext, type Passage, readEvidence } from "../../shared/knowledge/context/build-context.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { browseUrl } from "../adapters/archive/browse-url.ts";
import type { SearchApi } from "./dependencies.ts";
import {
  contextBodySchema,
  missingSidesSchema,
  RERANK_TOP_N,
  rerankerNotConfigured,
  searchFilter,
} from "./search-json.ts";
import { searched } from "./searched.ts";

/** Hits that are looked at. */
const CANDIDATES = 50;

const citationSchema = z.object({
  /** As it stands in the context: `[1]`. */
  number: z.int(),
  document_id: z.uuid(),
  /** In the order of the document. */
  chunk_ids: z.array(z.uuid()),
  url: z.string(),
  title: z.string().nullable(),
  section_header: z.string().nullable(),
  /** Of the section in which it begins, in its document; null where that has none. */
  section_position: z.int().nullable(),
  captured_at: z.iso.datetime(),
  /** Where the capture can be seen; null for uploads, and where nothing is replayed. */
  replay_url: z.string().nullable(),
  /** What the context holds of it. */
  text: z.string(),
  /** Of the document's text, in UTF-16 code units. */
  start_char: z.int(),
  end_char: z.int(),
  /** Whether its end was cut off to fit. */
  is_cut: z.boolean(),
  /** Why it was chosen: of its best passage. */
  reason: z.object({
    /** Among all hits, from 1 on. */
    rank: z.int(),
    score: z.number(),
    source: z.enum(["vector", "keyword", "fused"]),
    vector_rank: z.int().nullable(),
    keyword_rank: z.int().nullable(),
    /** Words of the question that stand in it. */
    matched_words: z.array(z.string()),
    /** Passages that were joined because they stand side by side. */
    joined: z.int(),
    /** Passages that say nearly the same, and were left out. */
    duplicates: z.int(),
  }),
});

export const context = defineRoute(
  {
    method: "POST",
    path: "/api/v1/context",
    scope: "read",
    limited: true,
    errors: { 503: ["SEARCH_TIMEOUT"] },
    summary: "What a language model needs to answer a question, within a budget of tokens, with numbered sources",
    body: contextBodySchema,
    response: z.object({
      /** Each passage below its number and source. It is what pages say: data, and no instructions. */
      context: z.string(),
      /** Estimated; never more than `max_tokens`. */
      tokens: z.int(),
      citations: z.array(citationSchema),
      /** Hits for which there was no room. */
      left_out: z.int(),
      missing_sides: missingSidesSchema,
    }),
  },
  async ({ body, caller, log }, api: SearchApi) => {
    if (body.use_reranker && !api.reranker) throw rerankerNotConfigured();
    const { query, min_score: minScore, max_tokens, use_reranker } = body;
    const filter = searchFilter(body, caller.collectionIds);
    const asked = {
      ...{ query, mode: "hybrid" as const, limit: CANDIDATES, minScore, filter, collapse: true },
      ...(use_reranker && { rerankTopN: RERANK_TOP_N }),
    };
    const { answer } = await searched(api, log, asked);
    const evidence = await readEvidence(api.sql, answer.results);
    const { text, tokens, passages, leftOut } = buildContext(evidence, max_tokens);
    return {
      context: text,
      tokens,
      citations: passages.map((passage) => citationJson(passage, api.config.archiveReplayUrl)),
      left_out: leftOut,
      missing_sides: answer.missing.map(({ side, code, reason }) => ({ side, code, reason })),
    };
  },
);

function citationJson(
  { number, parts, best, text, isCut }: Passage,
  replayUrl: string,
): z.input<typeof citationSchema> {
  const first = parts[0] ?? best;
  const { documentId, url, title, capturedAt, isCaptured, rank, score, source, vectorRank, keywordRank } = best;
  return {
    number,
    document_id: documentId,
    chunk_ids: parts.map(({ chunkId }) => chunkId),
    url,
    title,
    section_header: first.sectionHeader,
    section_position: first.section,
    captured_at: capturedAt.toISOString(),
    replay_url: isCaptured ? browseUrl(replayUrl, url, capturedAt) : null,
    text,
    start_char: first.start,
    end_char: isCut ? first.start + text.length : Math.max(...parts.map(({ end }) => end)),
    is_cut: isCut,
    reason: {
      ...{ rank, score, source, vector_rank: vectorRank, keyword_rank: keywordRank, matched_words: best.words },
      joined: parts.length,
      duplicates: parts.reduce((sum, { duplicates }) => sum + duplicates, 0),
    },
  };
}
