/** What a search is asked for, and what it answers. */
import type { Fusion } from "../embedders/embedder.ts";
import type { Facet, Facets } from "./facets.ts";
import type { SearchResult } from "./results.ts";
import type { SearchFilter } from "./search-filter.ts";
import type { MissingSide } from "./sides.ts";
import type { Total } from "./totals.ts";

export interface SearchRequest {
  query: string;
  mode: "hybrid" | "vector" | "keyword";
  /** 1 to 100. */
  limit: number;
  /** Results below are left out: of the fused score, or of the one side's own score. */
  minScore?: number;
  filter?: SearchFilter;
  /** Instead of the one that suits the embedder. */
  fusion?: Fusion;
  /** Whether results come with the chunks beside them. */
  expand?: boolean;
  /** Of the page before, for the one behind it. */
  cursor?: string;
  /** Of which matches are counted by value. */
  facets?: Facet[];
  /** Whether passages that say nearly the same are one result. */
  collapse?: boolean;
  /** Whether the ranking is one of passages, or of the sections in which they stand; left out: of passages. */
  groupBy?: "section";
  /** So many of the best results are put in the order of the reranker. */
  rerankTopN?: number;
}

export interface SearchAnswer {
  results: SearchResult[];
  /** Empty where both sides gave what they have. */
  missing: MissingSide[];
  /** How the sides were fused; null where one alone answers. */
  fusion: Fusion | null;
  /** Of what the snapshot showed that the answer was read in. */
  version: string;
  total: Total;
  /** null unless asked for. */
  facets: Facets | null;
  /** Whether the query had its vector from an earlier search. */
  queryRemembered: boolean;
  /** The cursor of the next page; null at the end of the ranking. */
  next: string | null;
}
