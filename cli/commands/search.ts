/** `search QUERY`. */
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import { searchFields } from "../search-fields.ts";
import { type Facets, type SearchResult, showFacets, showResult } from "../search-view.ts";
import type { Terminal } from "../terminal.ts";

export const SEARCH_MODES = ["hybrid", "vector", "keyword"] as const;

/** And those of `SEARCH_FIELDS`. */
export interface SearchOptions extends Readonly<Record<string, unknown>> {
  mode: (typeof SEARCH_MODES)[number];
  json?: true;
}

interface SearchAnswer {
  results: SearchResult[];
  missing_sides: { side: string; reason: string }[];
  facets: Facets | null;
  total_count: number | null;
  total_exact: boolean;
  next_cursor: string | null;
  latency_ms: number;
}

const PATHS = { hybrid: "/api/v1/search", vector: "/api/v1/search/vector", keyword: "/api/v1/search/keyword" } as const;

export async function search(
  api: ApiClient,
  terminal: Terminal,
  query: string,
  { mode, json, ...options }: SearchOptions,
): Promise<number> {
  const answer = await api<SearchAnswer>("POST", PATHS[mode], { query, ...searchFields(options) });
  if (json) {
    terminal.line(JSON.stringify(answer, null, 2));
    return EXIT.done;
  }
  for (const [index, result] of answer.results.entries()) showResult(terminal, index + 1, result);
  if (answer.facets !== null) showFacets(terminal, answer.facets);
  for (const { side, reason } of answer.missing_sides) terminal.line(`Without the ${side} side, since ${reason}`);
  const { length } = answer.results;
  const found = length === 0 ? "Nothing found" : `${length} ${length === 1 ? "result" : "results"}`;
  terminal.line(terminal.dim(`${found}${total(answer)} in ${Math.round(answer.latency_ms)} ms`));
  return EXIT.done;
}

function total({ results, total_count: count, total_exact: exact }: SearchAnswer): string {
  if (count === null || count <= results.length) return "";
  return exact ? ` of ${count}` : ` of about ${count}`;
}
