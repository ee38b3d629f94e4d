/** What the search API needs, built once per container. */
import { createJobFlags, type JobFlags } from "../../shared/crawl/tasks/job-flags.ts";
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
  return { ...container, flags, answers, vectorSide: openServingSide(config, sql, flags.markActive) };
}
