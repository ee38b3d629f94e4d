/** A neutral query as the one line that search engines share: quoted words, OR, `site:`, `after:`, `before:`. */
import type { NeutralQuery } from "./query-schema.ts";

/** Longest query that providers take, in characters. */
export const MAX_QUERY_LENGTH = 512;

export interface QueryTextOptions {
  /** Whether the provider reads `after:` and `before:`; others get dates as parameters. */
  dates: boolean;
  /** Whether it reads `site:`. */
  sites: boolean;
}

export class QueryTooLong extends Error {
  constructor(length: number, most = MAX_QUERY_LENGTH, unit = "characters") {
    super(`the query has ${length} ${unit}; ${most} are the most: use fewer keywords or sites`);
    this.name = "QueryTooLong";
  }
}

/** @throws QueryTooLong */
export function queryText(query: NeutralQuery, options?: QueryTextOptions): string {
  const text = templateText(query, options);
  const length = lengthOf(text);
  if (length > MAX_QUERY_LENGTH) throw new QueryTooLong(length);
  return text;
}

/** In characters, as a reader counts them: those beyond 16 bits are one. */
export const lengthOf = (text: string): number => [...text].length;

/** As `queryText`, of any length: a placeholder is longer than its day. */
export function templateText(
  { keywords, boolean, filters }: NeutralQuery,
  { dates, sites }: QueryTextOptions = { dates: true, sites: true },
): string {
  const words = keywords.map(quoted);
  const parts = [
    boolean === "OR" && words.length > 1 ? `(${words.join(" OR ")})` : words.join(" "),
    ...(sites ? [siteList(filters.sites ?? [])] : []),
    ...(dates && filters.date_after !== undefined ? [`after:${filters.date_after}`] : []),
    ...(dates && filters.date_before !== undefined ? [`before:${filters.date_before}`] : []),
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** More than one plain word is a phrase; so is what an engine would take for an operator. */
function quoted(keyword: string): string {
  // engines take curly quotes for quotes too, and two dots between numbers for a range
  const bare = keyword.replaceAll(/["\u201c-\u201f\s]+/g, " ").trim();
  const plain = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}_.+#-]*$/u.test(bare) && !bare.includes("..");
  return plain && !/^(AND|OR|NOT)$/i.test(bare) ? bare : `"${bare}"`;
}

function siteList(sites: readonly string[]): string {
  const each = sites.map((site) => `site:${site}`);
  return each.length > 1 ? `(${each.join(" OR ")})` : (each[0] ?? "");
}
