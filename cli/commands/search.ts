/** `search QUERY`. */
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import { type SearchResult, showResult } from "../search-view.ts";
import type { Terminal } from "../terminal.ts";

export const SEARCH_MODES = ["hybrid", "vector", "keyword"] as const;

export interface SearchOptions {
  mode: (typeof SEARCH_MODES)[number];
  limit: number;
  json?: true;
}

interface SearchAnswer {
  results: SearchResult[];
  missing_sides: { side: string; reason: string }[];
  latency_ms: number;
}

const PATHS = { hybrid: "/api/v1/search", vector: "/api/v1/search/vector", keyword: "/api/v1/search/keyword" } as const;

export async function search(
  api: ApiClient,
  terminal: Terminal,
  query: string,
  { mode, limit, json }: SearchOptions,
): Promise<number> {
  const answer = await api<SearchAnswer>("POST", PATHS[mode], { query, limit });
  if (json) {
    terminal.line(JSON.stringify(answer, null, 2));
    return EXIT.done;
  }
  for (const [index, result] of answer.results.entries()) showResult(terminal, index + 1, result);
  for (const { side, reason } of answer.missing_sides) terminal.line(`Without the ${side} side, since ${reason}`);
  const { length } = answer.results;
  const found = length === 0 ? "Nothing found" : `${length} ${length === 1 ? "result" : "results"}`;
  terminal.line(terminal.dim(`${found} in ${Math.round(answer.latency_ms)} ms`));
  return EXIT.done;
}
