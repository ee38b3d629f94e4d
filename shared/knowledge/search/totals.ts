/** How many passages a search would find, without counting them: what ranking them has shown, and statistics. */
import type { KeywordHits, KeywordQuery } from "./keyword-search.ts";

export interface Total {
  count: number;
  /** Whether it was counted, and is no estimate. */
  exact: boolean;
}

/** What the keyword side has found. */
export interface KeywordRanking {
  query: KeywordQuery;
  ranked: KeywordHits;
  /** So many were asked for at the most. */
  limit: number;
  /** Those of the hits that hold what is quoted. */
  found: number;
  filtered: boolean;
}

/**
 * All matches have been seen where the candidates are all that hold any of the terms. If they are not, each term is
 * taken to stand in chunks independently of the others.
 */
export function keywordTotal({ query, ranked, limit, found, filtered }: KeywordRanking): Total {
  const { terms, known, patterns, condition } = query;
  const corpus = known.statistics.chunks;
  const { hits, candidates, whole, visible } = ranked;
  const more = hits.length === limit;
  if (whole) {
    if (!more) return { count: found, exact: true };
    const counted = found === hits.length ? candidates : found;
    return { count: counted, exact: visible && found === hits.length };
  }
  if (filtered || condition !== null || patterns.length > 0) {
    return { count: more && found === hits.length ? candidates : found, exact: false };
  }
  const without = terms.reduce((share, { chunks }) => share * (1 - Math.min(1, chunks / corpus)), 1);
  return { count: Math.max(found, candidates, Math.round(corpus * (1 - without))), exact: false };
}

/** Of the groups that passages were put into, as far as these were ranked. */
export function totalOfGroups({ count, exact }: Total, kept: number, groups: number): Total {
  if (count <= kept) return { count: groups, exact };
  return { count: Math.max(groups, Math.round((count * groups) / kept)), exact: false };
}

export interface SidesOfTotal {
  /** null where the side has no part in the search. */
  keyword: Total | null;
  /** Hits of the keyword side. */
  keywordHits: number;
  /** Whether the vector side had no more to give; null where it has no part in the search. */
  vectorWhole: boolean | null;
  /** Hits of both, each once. */
  ranked: number;
  /** Those whose score is high enough. */
  kept: number;
}

/** As many at least as can be read page by page. */
export function totalOf({ keyword, keywordHits, vectorWhole, ranked, kept }: SidesOfTotal): Total {
  const keywordWhole = keyword === null || (keyword.exact && keyword.count === keywordHits);
  const whole = keywordWhole && (vectorWhole ?? true);
  const oneSided = keyword === null || vectorWhole === null;
  // what is not ranked scores less on its side
  if (whole || kept < ranked) return { count: kept, exact: whole || oneSided };
  return { count: Math.max(kept, keyword?.count ?? 0), exact: vectorWhole === null && keyword?.exact === true };
}
