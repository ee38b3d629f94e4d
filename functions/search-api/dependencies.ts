/** What the search API needs, built once per container. */
import { createJobFlags, type JobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { createReranker } from "../../shared/knowledge/rerankers/registry.ts";
import { type AnswerCache, createAnswerCache } from "../../shared/knowledge/search/answer-cache.ts";
import type { SearchDependencies } from "../../shared/knowledge/search/search.ts";
import { openServingSide } from "../../shared/knowledge/search/vector-side.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";

export interface SearchApi extends ApiContainer, SearchDependencies {
  flags: Pick<JobFlags, "markActive">;
  answers: AnswerCache;
}

export function searchDependencies(): SearchApi {
  const container = createApiContainer("search-api");
  const { config, sql, dynamo } = container;
  const flags = createJobFlags(dynamo, config.stateTable);
  const answers = createAnswerCache(config.answerCacheTtlS);
  const reranker = createReranker(config);
  return { ...container, flags, answers, reranker, vectorSide: openServingSide(config, sql, flags.markActive) };
}
