/** The routes that search by words, by meaning, and by both, and the one that makes a context of what is found. */
import type { SearchRequest } from "../../shared/knowledge/search/search-request.ts";
import { once } from "../../shared/platform/once.ts";
import { createApi } from "../adapters/api/api.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { context } from "./context.ts";
import type { SearchApi } from "./dependencies.ts";
import { searchDependencies } from "./dependencies.ts";
import {
  facetsJson,
  fusionJson,
  rerankerNotConfigured,
  searchBodySchema,
  searchExtras,
  searchFilter,
  searchFusion,
  searchResponseSchema,
  searchResultJson,
  VECTOR_SIDE_FAULTS,
} from "./search-json.ts";
import { searched } from "./searched.ts";

function searchRoute(path: `/${string}`, mode: SearchRequest["mode"], summary: string) {
  return defineRoute(
    {
      ...{ method: "POST", path, scope: "read", limited: true, summary },
      ...{ body: searchBodySchema(mode), response: searchResponseSchema },
      errors: {
        400: ["CURSOR_INVALID", "CURSOR_OF_ANOTHER_SEARCH", ...(mode === "vector" ? ["EMBEDDER_NOT_CONFIGURED"] : [])],
        410: ["CURSOR_EXPIRED"],
        503: mode === "vector" ? ["SEARCH_TIMEOUT", ...VECTOR_SIDE_FAULTS] : ["SEARCH_TIMEOUT"],
      },
    },
    async ({ body, caller, log }, api: SearchApi) => {
      const { query, limit, min_score: minScore, expand_chunks: expand, explain } = body;
      if (body.use_reranker && !api.reranker) throw rerankerNotConfigured();
      const fusion = searchFusion(body);
      const filter = searchFilter(body, caller.collectionIds);
      const more = { ...(fusion && { fusion }), ...searchExtras(body) };
      const asked = { query, mode, limit, minScore, filter, expand, ...more };
      const { answer, latencyMs } = await searched(api, log, asked);
      const { results, missing, cached } = answer;
      return {
        results: results.map((result) => searchResultJson(result, body)),
        missing_sides: missing.map(({ side, code, reason }) => ({ side, code, reason })),
        fusion: explain && answer.fusion !== null ? fusionJson(answer.fusion) : null,
        total_count: answer.total.count,
        total_exact: answer.total.exact,
        facets: answer.facets && facetsJson(answer.facets),
        next_cursor: answer.next,
        // that others asked the same is theirs to know
        query_embedding_cached: caller.collectionIds === null && answer.queryRemembered,
        result_cached: cached,
        latency_ms: Math.round(latencyMs * 100) / 100,
      };
    },
  );
}

export const api = createApi(
  "search-api",
  [
    searchRoute("/api/v1/search", "hybrid", "Search by words and by meaning, fused into one ranking"),
    searchRoute("/api/v1/search/vector", "vector", "Search by meaning"),
    searchRoute("/api/v1/search/keyword", "keyword", "Search by words"),
    context,
  ],
  once(searchDependencies),
);
export const handler = api.handler;
