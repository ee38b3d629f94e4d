/** Searches as the API takes and shows them. */
import { domainToASCII } from "node:url";
import { z } from "zod";
import { MAX_URL_LENGTH } from "../../shared/access/url-inspection.ts";
import type { Fusion } from "../../shared/knowledge/embedders/embedder.ts";
import { FACETS, type Facets } from "../../shared/knowledge/search/facets.ts";
import { RRF_K } from "../../shared/knowledge/search/fusion.ts";
import { MAX_QUERY_LENGTH } from "../../shared/knowledge/search/query-syntax.ts";
import type { DescribedDuplicate, SearchResult } from "../../shared/knowledge/search/results.ts";
import type { SearchFilter } from "../../shared/knowledge/search/search-filter.ts";
import type { SearchRequest } from "../../shared/knowledge/search/search-request.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { momentParameter } from "../adapters/api/times.ts";

/** Longer ones are never given. */
const MAX_CURSOR_LENGTH = 200_000;

const domain = z
  .string()
  .trim()
  .toLowerCase()
  .min(1)
  .max(253)
  .refine((name) => !name.includes("*"), "must name one host: there are no wildcards")
  .overwrite(asciiHost);

const fieldsSchema = z.strictObject({
  query: z
    .string()
    .max(MAX_QUERY_LENGTH)
    .refine((text) => text.trim() !== "", "must hold more than white space"),
  collection_ids: z.array(z.uuid()).min(1).max(100).nullish(),
  domains: z.array(domain).min(1).max(100).nullish(),
  min_score: z.number().min(-1).default(0),
  limit: z.int().min(1).max(100).default(10),
  languages: z
    .array(
      z
        .string()
        .trim()
        .toLowerCase()
        .regex(/^[a-z]{2,3}$/, "must be a code of ISO 639, or und"),
    )
    .min(1)
    .max(100)
    .nullish(),
  source_types: z
    .array(z.enum(["crawl", "upload", "api"]))
    .min(1)
    .nullish(),
  date_from: momentParameter.nullish(),
  date_to: momentParameter.nullish(),
  url_prefix: z
    .string()
    .max(MAX_URL_LENGTH)
    .regex(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/./, "must begin with http:// or https://")
    .overwrite(normalPrefix)
    .nullish(),
  fusion: z.enum(["linear", "rrf"]).nullish(),
  rrf_k: z.int().min(1).max(10_000).nullish(),
  vector_weight: z.number().min(0).max(1000).nullish(),
  keyword_weight: z.number().min(0).max(1000).nullish(),
  expand_chunks: z.boolean().default(false),
  explain: z.boolean().default(false),
  facets: z.array(z.enum(FACETS)).min(1).max(FACETS.length).nullish(),
  collapse_duplicates: z.boolean().default(false),
  use_reranker: z.boolean().default(false),
  rerank_top_n: z.int().min(1).max(100).nullish(),
  tag_ids: z.array(z.uuid()).min(1).max(100).nullish(),
  tags: z.array(z.string().trim().toLowerCase().min(1).max(100)).min(1).max(100).nullish(),
  tag_match: z.enum(["any", "all"]).nullish(),
  /** Whether results are passages, or the sections of documents in which these stand. */
  group_by: z.enum(["section"]).nullish(),
  cursor: z.string().max(MAX_CURSOR_LENGTH).nullish(),
});
type SearchBody = z.output<typeof fieldsSchema>;

/** As the pages' own URLs have it; what is none stays as it is, and matches nothing. */
function asciiHost(host: string): string {
  return domainToASCII(host) || host;
}

/** Scheme and host as the pages' own URLs have them, and the path where the host is whole. */
function normalPrefix(prefix: string): string {
  const [, origin = "", rest = ""] = /^([^/]*\/\/[^/?#]*)(.*)$/s.exec(prefix) ?? [];
  if (!URL.canParse(origin)) return prefix;
  const { protocol, host, href } = new URL(rest === "" ? origin : prefix);
  return rest === "" ? `${protocol}//${host}` : href;
}

const FUSION_FIELDS = ["fusion", "rrf_k", "vector_weight", "keyword_weight"] as const;

/** For the OpenAPI document: what they may be together. */
const FUSION_RULE = {
  allOf: [
    {
      anyOf: [{ properties: { rrf_k: { type: "null" } } }, { properties: { fusion: { enum: ["rrf", null] } } }],
    },
    {
      anyOf: [
        { properties: { vector_weight: { not: { enum: [0] } } } },
        { properties: { keyword_weight: { not: { enum: [0] } } } },
      ],
    },
  ],
};
const NO_FUSION_RULE = {
  allOf: [{ properties: Object.fromEntries(FUSION_FIELDS.map((field) => [field, { type: "null" }])) }],
};

const FILTER_FIELDS = {
  query: true,
  collection_ids: true,
  domains: true,
  languages: true,
  source_types: true,
  date_from: true,
  date_to: true,
  url_prefix: true,
  tag_ids: true,
  tags: true,
  tag_match: true,
  min_score: true,
} as const;
type FilterBody = Pick<SearchBody, keyof typeof FILTER_FIELDS>;

/** Why a filter can match nothing, by its field. */
function filterFaults(body: FilterBody): [keyof FilterBody, string][] {
  const { date_from, date_to, tag_match, tag_ids, tags } = body;
  const faults: [keyof FilterBody, string][] = [];
  if (date_from && date_to && Date.parse(date_from) > Date.parse(date_to)) {
    faults.push(["date_from", "is later than date_to, so that no page can match"]);
  }
  if (tag_match && !tag_ids && !tags) {
    faults.push(["tag_match", "means nothing without tag_ids or tags: name some, or leave it out"]);
  }
  return faults;
}

export const contextBodySchema = fieldsSchema
  .pick({ ...FILTER_FIELDS, use_reranker: true })
  .extend({ max_tokens: z.int().min(100).max(32_000).default(2_000) })
  .superRefine((body, { addIssue }) => {
    for (const [field, message] of filterFaults(body)) addIssue({ code: "custom", path: [field], message });
  });

/** What each field may be, and what they may be together. */
export function searchBodySchema(mode: SearchRequest["mode"]) {
  const refined = fieldsSchema.superRefine((body, { addIssue }) => {
    const fault = (field: keyof SearchBody, message: string) => {
      addIssue({ code: "custom", path: [field], message });
    };
    const { fusion, rrf_k, vector_weight, keyword_weight } = body;
    for (const [field, message] of filterFaults(body)) fault(field, message);
    if (mode !== "hybrid") {
      for (const field of FUSION_FIELDS) {
        if (body[field] != null) fault(field, "means nothing in a search by one side: leave it out");
      }
    }
    if (fusion === "linear" && rrf_k != null) fault("rrf_k", "belongs to fusion rrf: leave one of them out");
    if (body.rerank_top_n != null && !body.use_reranker) {
      fault("rerank_top_n", "means nothing without use_reranker: set that, or leave it out");
    }
    if (body.group_by && body.expand_chunks) {
      fault("expand_chunks", "does not go with group_by: the link of a section gives all of its text");
    }
    if (body.facets && body.cursor != null) {
      fault("facets", "come with the first page: leave them out of the next ones");
    }
    if (vector_weight === 0 && keyword_weight === 0) fault("vector_weight", "is 0 as the other is: one must count");
  });
  return refined.meta(mode === "hybrid" ? FUSION_RULE : NO_FUSION_RULE);
}

export const RERANK_TOP_N = 20;

/** What is asked for beside the ranking, and with it. */
export function searchExtras(body: SearchBody): Partial<SearchRequest> {
  const { cursor, facets, collapse_duplicates, use_reranker, rerank_top_n, group_by } = body;
  return {
    ...(cursor != null && { cursor }),
    ...(facets && { facets }),
    ...(collapse_duplicates && { collapse: true }),
    ...(group_by && { groupBy: group_by }),
    ...(use_reranker && { rerankTopN: rerank_top_n ?? RERANK_TOP_N }),
  };
}

/** Codes of status 503 where there is nothing beside the vectors. */
export const VECTOR_SIDE_FAULTS = [
  ...["EMBEDDER_KEY_REFUSED", "EMBEDDER_MODEL_MISMATCH", "EMBEDDER_UNAVAILABLE", "EMBEDDING_INVALID"],
  ...["VECTORS_OF_ANOTHER_MODEL", "VECTOR_SIDE_FAILED", "VECTOR_SIDE_LATE", "VECTOR_STORE_EMPTY"],
  ...["VECTOR_STORE_EXTENSION_MISSING", "VECTOR_STORE_KEY_REFUSED", "VECTOR_STORE_LIMIT", "VECTOR_STORE_MISMATCH"],
];

export function rerankerNotConfigured(): ApiError {
  const message = "No reranker is configured: set TEI__RERANK_URL to one, or leave use_reranker out";
  return new ApiError(400, message, { code: "RERANKER_NOT_CONFIGURED", details: { field: "use_reranker" } });
}

export function facetsJson({ counted, exact, values }: Facets): z.input<typeof searchResponseSchema>["facets"] {
  const { domain = null, language = null, collection = null, month = null, tag = null } = values;
  return { counted, exact, domain, language, collection, month, tag };
}

/** @param limit the collections that the caller is limited to; null: none */
export function searchFilter(body: FilterBody, limit: readonly string[] | null): SearchFilter {
  const collectionIds = withinLimit(body.collection_ids, limit);
  const { domains, languages, source_types, date_from, date_to, url_prefix } = body;
  const { tag_ids, tags, tag_match } = body;
  return {
    ...(collectionIds && { collectionIds }),
    ...(domains && { domains }),
    ...(languages && { languages }),
    ...(source_types && { sources: source_types }),
    ...(date_from && { dateFrom: date_from }),
    ...(date_to && { dateTo: date_to }),
    ...(url_prefix && { urlPrefix: url_prefix }),
    ...((tag_ids || tags) && { tags: { ids: tag_ids ?? [], names: tags ?? [], match: tag_match ?? "any" } }),
  };
}

/**
 * Those of the collections that the caller may search, all of them where none is named. An empty list matches nothing.
 */
function withinLimit(asked: FilterBody["collection_ids"], limit: readonly string[] | null) {
  if (limit === null) return asked;
  return asked ? asked.map((id) => id.toLowerCase()).filter((id) => limit.includes(id)) : [...limit];
}

/** Undefined where nothing is said: the embedder's own. Weights or `rrf_k` alone ask for ranks to be fused. */
export function searchFusion(body: SearchBody): Fusion | undefined {
  if (FUSION_FIELDS.every((field) => body[field] == null)) return undefined;
  const weights = { vector: body.vector_weight ?? 1, keyword: body.keyword_weight ?? 1 };
  if (body.fusion !== "linear") return { method: "rrf", weights, rankConstant: body.rrf_k ?? RRF_K };
  const sum = weights.vector + weights.keyword;
  return { method: "linear", weights: { vector: weights.vector / sum, keyword: weights.keyword / sum } };
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
  /** Of the reranker, 0 to 1; null where it has not read the passage. */
  rerank_score: z.number().nullable(),
  source: z.enum(["vector", "keyword", "fused"]),
  /** `[start, end)` in UTF-16 code units of `content`. */
  highlights: z.array(z.tuple([z.int(), z.int()])),
  section_header: z.string().nullable(),
  /** That the result stands for; null unless asked for, and where a document has none. `content` is of it alone. */
  section: z
    .object({
      /** Names it within its document. */
      position: z.int(),
      /** 0 for what stands before the first heading. */
      level: z.int(),
      heading: z.string().nullable(),
      /** Headings of those that it stands in, the outermost first, and its own. */
      path: z.array(z.string()),
      /** Gives it with all below it as Markdown. */
      link: z.string(),
    })
    .nullable(),
  /** The texts before and behind, without what `content` holds; null unless asked for. */
  expanded_chunks: z.array(z.string()).nullable(),
  /** The places among the hits of either side; null unless asked for. */
  explanation: z.object({ vector_rank: z.int().nullable(), keyword_rank: z.int().nullable() }).nullable(),
  /** Passages behind it in the ranking that say nearly the same; null unless asked for. */
  duplicates: z
    .array(
      z.object({
        document_id: z.uuid(),
        chunk_id: z.uuid(),
        url: z.string(),
        title: z.string().nullable(),
        score: z.number(),
        /** Share of the pairs of words in a row that both have, of those that either has. */
        similarity: z.number(),
      }),
    )
    .nullable(),
});

export const missingSidesSchema = z.array(
  z.object({ side: z.enum(["vector", "keyword", "reranker"]), code: z.string(), reason: z.string() }),
);

/** The most frequent values first; null where it was not asked for. */
const facetSchema = z.array(z.object({ value: z.string().nullable(), count: z.int() })).nullable();

export const searchResponseSchema = z.object({
  results: z.array(searchResultSchema),
  /**
   * Sides that gave nothing to this answer, and why: the results are those of the other one. Or the reranker: they
   * stand in the order without it.
   */
  missing_sides: missingSidesSchema,
  /** How the sides were fused; null unless asked for, or where one side alone answers. */
  fusion: z
    .object({
      method: z.enum(["linear", "rrf"]),
      vector_weight: z.number(),
      keyword_weight: z.number(),
      rrf_k: z.int().nullable(),
    })
    .nullable(),
  /** Passages that match, or sections, as many at least as its pages have. */
  total_count: z.int().nullable(),
  /** Whether that was counted; otherwise it is an estimate. */
  total_exact: z.boolean(),
  /** How the matches are spread; null unless asked for. */
  facets: z
    .object({
      /** Passages that were counted. */
      counted: z.int(),
      /** Whether these are all that match. */
      exact: z.boolean(),
      domain: facetSchema,
      language: facetSchema,
      collection: facetSchema,
      month: facetSchema,
      /** By name. A passage counts for each tag of its page. */
      tag: facetSchema,
    })
    .nullable(),
  next_cursor: z.string().nullable(),
  /** Whether the query had its vector from an earlier search, where a server of embeddings makes them. */
  query_embedding_cached: z.boolean(),
  /** Whether an equal search was answered so before, and nothing has changed since. */
  result_cached: z.boolean(),
  latency_ms: z.number(),
});

export function fusionJson({ method, weights, rankConstant }: Fusion): z.input<typeof searchResponseSchema>["fusion"] {
  const rrf_k = method === "rrf" ? (rankConstant ?? RRF_K) : null;
  return { method, vector_weight: weights.vector, keyword_weight: weights.keyword, rrf_k };
}

export function searchResultJson(result: SearchResult, body: SearchBody): z.input<typeof searchResultSchema> {
  return {
    document_id: result.documentId,
    chunk_id: result.chunkId,
    url: result.url,
    title: result.title,
    content: result.content,
    score: result.score,
    vector_score: result.vectorScore,
    keyword_score: result.keywordScore,
    rerank_score: result.rerankScore ?? null,
    source: result.source,
    highlights: result.highlights,
    section_header: result.sectionHeader,
    section: sectionJson(result),
    expanded_chunks: body.expand_chunks ? result.beside : null,
    explanation: body.explain ? { vector_rank: result.vectorRank, keyword_rank: result.keywordRank } : null,
    duplicates: body.collapse_duplicates ? result.duplicates.map(duplicateJson) : null,
  };
}

function sectionJson({ documentId, section }: SearchResult): z.input<typeof searchResultSchema>["section"] {
  if (section === null) return null;
  const { position, level, heading, path } = section;
  return { position, level, heading, path, link: `/api/v1/documents/${documentId}/sections/${position}` };
}

function duplicateJson({ documentId, chunkId, url, title, score, similarity }: DescribedDuplicate) {
  return { document_id: documentId, chunk_id: chunkId, url, title, score, similarity };
}
