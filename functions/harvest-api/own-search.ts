/** This system's own index as a provider of URLs. */
import type { ExpandedQuery } from "../../shared/harvest/expansion.ts";
import type { OwnAnswer } from "../../shared/harvest/run.ts";
import { answerSearch, type SearchDependencies } from "../../shared/knowledge/search/search.ts";

/** Hits that are looked at: several chunks of a page may be among them. */
const DEPTH = 100;

/**
 * AND: every keyword must stand in the text, as a phrase; OR: the more of them the better. Days are those of the
 * capture.
 */
export function ownSearch(dependencies: SearchDependencies) {
  return async ({ keywords, boolean, filters }: ExpandedQuery, want: number): Promise<OwnAnswer> => {
    const words = keywords.map((keyword) => keyword.replaceAll('"', " ").trim());
    const queryUsed =
      boolean === "AND" ? words.map((word) => `"${word}"`).join(" ") : words.join(" ").replaceAll(/(^|\s)-/g, "$1");
    const { results: hits, missing } = await answerSearch(dependencies, {
      query: queryUsed,
      mode: "hybrid",
      limit: DEPTH,
    });
    const captured = await capturedBetween(
      dependencies,
      hits.map(({ documentId }) => documentId),
      filters,
    );
    const urls = hits
      .filter(({ documentId, url }) => captured.has(documentId) && onSites(url, filters.sites ?? []))
      .map(({ url }) => url);
    const [side] = missing;
    const error = side === undefined ? null : `without the ${side.side} side, since ${side.reason}`;
    return { queryUsed, urls: [...new Set(urls)].slice(0, want), error };
  };
}

async function capturedBetween(
  { sql }: SearchDependencies,
  ids: string[],
  { date_after, date_before }: ExpandedQuery["filters"],
): Promise<Set<string>> {
  if (date_after === undefined && date_before === undefined) return new Set(ids);
  // as text, since the driver would make a Date of a date, and no Date is infinite
  const rows = await sql<{ id: string }[]>`
    select id from documents where id = any(${ids}::uuid[])
      and (crawled_at at time zone 'UTC')::date between ${date_after ?? "-infinity"}::text::date
        and ${date_before ?? "infinity"}::text::date`;
  return new Set(rows.map(({ id }) => id));
}

/** `example.com`: that host and those below it; `.eu`: every host that ends so. */
function onSites(url: string, sites: readonly string[]): boolean {
  const { hostname } = new URL(url);
  return (
    sites.length === 0 ||
    sites.some((site) => hostname === site || hostname.endsWith(site.startsWith(".") ? site : `.${site}`))
  );
}
