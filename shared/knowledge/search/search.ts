/**
 * Answers a query. The keyword side and the vector side run at the same time; what they find is fused.
 *
 * Everything that decides what is visible happens in one snapshot: the keyword query, the join of vector hits with
 * `documents_active`, and the reading of texts. So an answer holds the old set of pages or the new one, never a mix,
 * although the vectors live in another store.
 */
import type { Sql, Transaction } from "../../platform/database/database.ts";
import type { Fusion } from "../embedders/embedder.ts";
import { embedderNotConfigured } from "../embedders/registry.ts";
import type { Reranker } from "../rerankers/reranker.ts";
import type { VectorFilter } from "../vector-stores/vector-store.ts";
import { type AskedSearch, askKeywords, askVectors, isExact } from "./ask-sides.ts";
import { encodeRest, type PageHeader } from "./cursor.ts";
import { countFacets, type Facet, type Facets, noFacets } from "./facets.ts";
import { type FusedHit, fuse, type SideHit } from "./fusion.ts";
import { NO_MARKS } from "./highlight.ts";
import { type KeywordQuery, marksOfQuery } from "./keyword-search.ts";
import type { ListedHit } from "./listed-hit.ts";
import { collapseNearDuplicates } from "./near-duplicates.ts";
import { nextPage } from "./next-page.ts";
import { parseQuery } from "./query-syntax.ts";
import { rerankResults } from "./rerank.ts";
import { describe, type SearchResult } from "./results.ts";
import { isFiltered, type SearchFilter, vectorFilter } from "./search-filter.ts";
import type { SearchAnswer, SearchRequest } from "./search-request.ts";
import { openSnapshot } from "./search-version.ts";
import { groupBySection } from "./sections.ts";
import { LONE_WAIT_MS, type MissingSide, outcomeOf, Patience, SHARED_WAIT_MS, searchError } from "./sides.ts";
import { type Total, totalOf, totalOfGroups } from "./totals.ts";
import type { VectorSide } from "./vector-side.ts";

export interface SearchDependencies {
  sql: Sql;
  /** null where embeddings are switched off. */
  vectorSide(): Promise<VectorSide>;
  /** For a side of a search that the other one can answer, in ms. */
  sharedWaitMs?: number;
  /** null where none is configured. */
  reranker?: Reranker | null;
}

/**
 * Fused are more hits than are asked for: a chunk that both sides rank 30th belongs above one that one side ranks 8th.
 */
const LEAST_DEPTH = 100;
const KEYWORDS_ALONE: Fusion = { method: "linear", weights: { vector: 0, keyword: 1 } };
const VECTORS_ALONE: Fusion = { method: "linear", weights: { vector: 1, keyword: 0 } };
const UNKNOWN: Total = { count: 0, exact: false };
const noFilter: Promise<VectorFilter> = Promise.resolve({});

/**
 * Answers with what both sides find.
 * @throws ApiError where one of them is missing
 */
export async function search(dependencies: SearchDependencies, request: SearchRequest): Promise<SearchResult[]> {
  const { results, missing } = await answerSearch(dependencies, request);
  for (const side of missing) throw searchError(side);
  return results;
}

/**
 * Answers with what the sides find that answer in time, and says which one is missing.
 * @throws ApiError where no side is left
 */
export async function answerSearch(dependencies: SearchDependencies, request: SearchRequest): Promise<SearchAnswer> {
  if (request.cursor !== undefined) return await nextPage(dependencies.sql, request, request.cursor);
  const { mode, limit, minScore = 0, filter = {}, expand = false } = request;
  const query = parseQuery(request.query);
  const marksWaitMs = dependencies.sharedWaitMs ?? SHARED_WAIT_MS;
  const waitMs = mode === "hybrid" ? marksWaitMs : LONE_WAIT_MS;
  const patience = new Patience(waitMs);
  const opened =
    mode === "keyword" ? { value: null } : await outcomeOf("vector", patience.wait(dependencies.vectorSide()));
  if ("value" in opened && opened.value === null && mode === "vector") throw embedderNotConfigured();
  // nothing asked for: only punctuation, or only what must not stand
  if (query.text === "") return nothing(request);
  const reading = dependencies.sql.begin("isolation level repeatable read read only", async (tx) => {
    const snapshot = await openSnapshot(dependencies.sql, tx, waitMs);
    const { promise: keywordsAsked, resolve: afterAsking } = Promise.withResolvers<void>();
    const narrowed = await outcomeOf("vector", mode === "keyword" ? noFilter : narrow(tx, filter));
    const forVectors = "value" in narrowed ? narrowed.value : {};
    if (forVectors.documentIds?.length === 0) return null;
    const asked: AskedSearch = {
      ...{ query, mode, limit, depth: Math.max(LEAST_DEPTH, 2 * limit), filter, vectorFilter: forVectors },
      ...{ snapshot, patience, marksWaitMs, keywordsAsked, afterAsking },
    };
    const keyword = outcomeOf(
      "keyword",
      tx.savepoint((own) => askKeywords(own, asked)),
    );
    const ready = "missing" in opened ? opened : "missing" in narrowed ? narrowed : opened;
    const vector =
      "missing" in ready ? ready : await askVectors(tx, dependencies.vectorSide, ready.value, asked, keyword);
    const words = await keyword;
    const missing = [words, vector].flatMap((side) => ("missing" in side ? [side.missing] : []));
    const needed = mode === "hybrid" && missing.length < 2 ? [] : missing;
    const lost = needed.find(({ side }) => mode === "hybrid" || side === mode);
    if (lost !== undefined) throw searchError(lost);
    const side = "value" in opened && "value" in vector ? opened.value : null;
    const wanted = side === null ? null : (request.fusion ?? side.embedder.descriptor.fusion);
    const fusion = "value" in words ? (wanted ?? KEYWORDS_ALONE) : VECTORS_ALONE;
    const vectorHits = "value" in vector ? vector.value.hits : [];
    const keywordHits = "value" in words ? words.value.hits : [];
    const ranked = mode === "hybrid" ? fuse(vectorHits, keywordHits, fusion) : oneSide(mode, vectorHits, keywordHits);
    const kept = ranked.filter(({ score }) => score >= minScore);
    const total = totalOf({
      keyword: mode === "vector" ? null : "value" in words ? words.value.total : UNKNOWN,
      vectorWhole: mode === "keyword" ? null : "value" in vector && vector.value.whole,
      ...{ keywordHits: keywordHits.length, ranked: ranked.length, kept: kept.length },
    });
    const keywords = "value" in words ? words.value.keywords : null;
    const cut = mode === "hybrid" && "value" in vector && !vector.value.whole;
    const counted = { ranked, kept, total, cut, keywords: mode === "vector" ? null : keywords };
    const facets = request.facets === undefined ? null : await facetsOf(tx, request.facets, counted, filter);
    const marks = keywords === null ? NO_MARKS : marksOfQuery(keywords);
    const grouped = request.groupBy === undefined ? kept : await groupBySection(tx, kept, marks);
    const header = {
      missing,
      total: request.groupBy === undefined ? total : totalOfGroups(total, kept.length, grouped.length),
      fusion: mode === "hybrid" && keywords !== null ? wanted : null,
    };
    const listed = request.collapse ? await collapseNearDuplicates(tx, grouped) : grouped;
    const shown = Math.max(limit, request.rerankTopN ?? 0);
    const results = await describe(tx, listed.slice(0, shown), marks, expand);
    const queryRemembered = "value" in vector && vector.value.remembered;
    return { header, facets, results, rest: listed.slice(shown), version: snapshot.version, queryRemembered };
  });
  const outcome = await outcomeOf("keyword", reading);
  if ("missing" in outcome) throw searchError(outcome.missing);
  const found = outcome.value;
  return found === null ? nothing(request) : await firstPage(dependencies, request, query.text, found);
}

/** What fails here may not undo the transaction of the other side. */
async function narrow(tx: Transaction, filter: SearchFilter): Promise<VectorFilter> {
  return isFiltered(filter) ? await tx.savepoint((own) => vectorFilter(own, filter)) : {};
}

interface Found {
  header: PageHeader<MissingSide>;
  facets: Facets | null;
  /** The best, as many as the page or the reranker takes. */
  results: SearchResult[];
  rest: ListedHit[];
  version: string;
  queryRemembered: boolean;
}

/** Reranks outside of the transaction: no connection waits for another server. */
async function firstPage(
  { reranker }: SearchDependencies,
  request: SearchRequest,
  query: string,
  { header, facets, results: best, rest: behind, version, queryRemembered }: Found,
): Promise<SearchAnswer> {
  const { limit, rerankTopN, groupBy } = request;
  const reranked =
    reranker && rerankTopN !== undefined
      ? await rerankResults(reranker, query, best, rerankTopN)
      : { results: best, missing: [] };
  const total = facets?.exact && groupBy === undefined ? { count: facets.counted, exact: true } : header.total;
  const told = { ...header, total, missing: [...header.missing, ...reranked.missing] };
  const rest = [...reranked.results.slice(limit), ...behind];
  const next = rest.length === 0 ? null : encodeRest(request, { ...told, hits: rest });
  return { ...told, facets, results: reranked.results.slice(0, limit), version, queryRemembered, next };
}

interface CountedRanking {
  ranked: readonly FusedHit[];
  kept: readonly FusedHit[];
  total: Total;
  /** Whether one of two sides has more than it gave. */
  cut: boolean;
  /** null where words have no part in the search. */
  keywords: KeywordQuery | null;
}

/** Of the hits themselves where they are all that match, or where only ranking tells what does. */
async function facetsOf(
  tx: Transaction,
  asked: readonly Facet[],
  { ranked, kept, total, cut, keywords }: CountedRanking,
  filter: SearchFilter,
): Promise<Facets> {
  const whole = total.exact && total.count === kept.length;
  const byRanking = whole || kept.length < ranked.length || keywords === null || isExact(keywords);
  const chunkIds = kept.map(({ chunkId }) => chunkId);
  const counted = await countFacets(tx, asked, { chunkIds, whole, query: byRanking ? null : keywords, filter });
  return { ...counted, exact: counted.exact && !cut };
}

function nothing({ facets }: SearchRequest): SearchAnswer {
  return {
    ...{ results: [], missing: [], fusion: null, version: "", next: null },
    total: { count: 0, exact: true },
    facets: facets === undefined ? null : noFacets(facets),
    queryRemembered: false,
  };
}

function oneSide(mode: "vector" | "keyword", vector: readonly SideHit[], keyword: readonly SideHit[]): FusedHit[] {
  return (mode === "vector" ? vector : keyword).map(({ chunkId, score }, index) => ({
    chunkId,
    score,
    vectorScore: mode === "vector" ? score : null,
    keywordScore: mode === "keyword" ? score : null,
    vectorRank: mode === "vector" ? index + 1 : null,
    keywordRank: mode === "keyword" ? index + 1 : null,
    source: mode,
  }));
}
