/** A hit in the ranking of a search, as its pages and cursors have it. */
import type { FusedHit } from "./fusion.ts";

export interface ListedHit extends FusedHit {
  /** 0 to 1; where a reranker has read the passage. */
  rerankScore?: number;
  /** Hits behind it that say nearly the same; where that was asked for. */
  collapsed?: NearDuplicate[];
  /** Place of the section that it stands for, where sections are asked for; null: its document has none. */
  sectionAt?: number | null;
}

export interface NearDuplicate {
  chunkId: string;
  score: number;
  /** To the hit that it is listed under; 0 to 1. */
  similarity: number;
}
