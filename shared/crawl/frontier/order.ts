/** The order of the frontier as one number: lower goes first. Each of these stays an exact double. */
import type { Strategy } from "../settings/job-settings.ts";

/** What decides about the place of a URL. */
export interface Place {
  depth: number;
  /** URLs that the job had discovered before it. */
  ordinal: number;
  /** Pages whose links were followed before the one that it was found on; 0 for seeds. */
  page: number;
  /** Among the links of its page. */
  position: number;
  /** 0 to 1. */
  score: number;
}

/** Discoveries that keep their order exactly: depth × 2^32 + ordinal is exact up to depth 2^20. */
const ORDINALS = 2 ** 32;
/** Links of a page that keep their order: page × 2^20 + position is exact up to 2^32 pages. */
const POSITIONS = 2 ** 20;
/** Steps of the score, so that scores that differ by rounding alone go by discovery. */
const SCORES = 1_000_000;

const PRIORITY: Record<Strategy, (place: Place) => number> = {
  /** By depth, then in order of discovery. */
  bfs: ({ depth, ordinal }) => depth * ORDINALS + ordinal,
  /** The links of the page that came last go before everything older, in document order. */
  dfs: ({ page, position }) => Math.min(position, POSITIONS - 1) - page * POSITIONS,
  /** By score, then in order of discovery. */
  best_first: ({ score, ordinal }) => Math.round((1 - score) * SCORES) * ORDINALS + ordinal,
};

export function priorityOf(strategy: Strategy, place: Place): number {
  return PRIORITY[strategy](place);
}
