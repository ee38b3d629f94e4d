/** What the search API needs, built once per container. */
import { createJobFlags, type JobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { decodeVector, encodeVector, type QueryVectors } from "../../shared/knowledge/embedders/query-cache.ts";
import { createReranker } from "../../shared/knowledge/rerankers/registry.ts";
import { type AnswerCache, createAnswerCache } from "../../shared/knowledge/search/answer-cache.ts";
import { ANSWER_FORMAT, decodeAnswer, encodeAnswer } from "../../shared/knowledge/search/kept-answer.ts";
import type { SearchDependencies } from "../../shared/knowledge/search/search.ts";
import type { SearchAnswer } from "../../shared/knowledge/search/search-request.ts";
import { openServingSide } from "../../shared/knowledge/search/vector-side.ts";
import { s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../shared/platform/aws/objects.ts";
import { createSharedCache, type SharedCache, type SharedCacheStore } from "../../shared/platform/aws/shared-cache.ts";
import { createStateTable } from "../../shared/platform/aws/state-table.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import type { Config } from "../../shared/platform/config.ts";
import { sha256 } from "../../shared/platform/ids.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";

export interface SearchApi extends ApiContainer, SearchDependencies {
  flags: Pick<JobFlags, "markActive">;
  answers: AnswerCache;
}

/** Of a search that another container makes. In ms. */
const ANSWER_WAIT_MS = 1_000;
const VECTOR_WAIT_MS = 500;

export function searchDependencies(): SearchApi {
  const container = createApiContainer("search-api");
  const { config, sql, dynamo, log } = container;
  const flags = createJobFlags(dynamo, config.stateTable);
  const state = createStateTable(dynamo, config.stateTable);
  const store = { state, objects: createObjectStore(s3Client(), config.bucket), clock: systemClock, log };
  const answers = createAnswerCache(config.answerCacheTtlS, sharedAnswers(config, store));
  const reranker = createReranker(config);
  const vectorSide = openServingSide(config, sql, flags.markActive, sharedVectors(config, store));
  return { ...container, flags, answers, reranker, vectorSide };
}

function sharedAnswers(config: Config, store: SharedCacheStore): SharedCache<SearchAnswer> | null {
  if (!config.answersShared || config.answerCacheTtlS === 0) return null;
  return createSharedCache(store, {
    kind: `answers-${answersOf(config)}`,
    ttlS: config.answerCacheTtlS,
    waitMs: ANSWER_WAIT_MS,
    ...{ encode: encodeAnswer, decode: decodeAnswer },
  });
}

/** Differs where another configuration answers another way. */
function answersOf(config: Config): string {
  const { teiUrl, openAiUrl, qdrantUrl, qdrantCollection, rerankUrl } = config;
  const servers = [config.embedder, teiUrl, config.teiModel, openAiUrl, config.openAiModel];
  const named = JSON.stringify([ANSWER_FORMAT, ...servers, qdrantUrl, qdrantCollection, rerankUrl]);
  return sha256(named).toString("hex").slice(0, 12);
}

function sharedVectors(config: Config, store: SharedCacheStore): QueryVectors | null {
  if (config.queryVectorTtlS === 0) return null;
  return createSharedCache(store, {
    kind: "queries",
    ttlS: config.queryVectorTtlS,
    waitMs: VECTOR_WAIT_MS,
    ...{ encode: encodeVector, decode: decodeVector },
  });
}
