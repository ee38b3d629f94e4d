/**
 * Removes replaced generations with their vectors and expired results, analyses chunks of an earlier version anew,
 * refreshes the corpus statistics, ages the embedding cache.
 */
import { z } from "zod";
import { removeExpiredDiscoveries } from "../../shared/crawl/discovery/jobs.ts";
import { ageCrawlCache } from "../../shared/crawl/frontier/crawl-cache.ts";
import { removeExpiredResults } from "../../shared/crawl/results/retention.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import {
  ageEmbeddingCache,
  analyseOutdatedChunks,
  removeUnseenDocuments,
} from "../../shared/knowledge/documents/maintenance.ts";
import { embedderDescriptor } from "../../shared/knowledge/embedders/registry.ts";
import { refreshIfStale } from "../../shared/knowledge/search/corpus-statistics.ts";
import { createVectorStore } from "../../shared/knowledge/vector-stores/registry.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { createLogger } from "../../shared/platform/observability/log.ts";
import { onceMade } from "../../shared/platform/once.ts";
import { createInvokedHandler } from "../adapters/invoked/handler.ts";

const dependencies = onceMade(async () => {
  const config = loadConfig();
  const descriptor = embedderDescriptor(config);
  return {
    config,
    sql: configuredDatabase(config),
    flags: createJobFlags(dynamoClient(), config.stateTable),
    vectors: descriptor === null ? null : await createVectorStore(config, descriptor),
    log: createLogger({ function: "maintain" }, config.logLevel),
  };
});

/** Kept for the refresh of the statistics. */
const RESERVE_MS = 60_000;

export const handler = createInvokedHandler({ schema: z.unknown(), handle: maintain });

async function maintain(_event: unknown, { remainingMs }: { remainingMs(): number }): Promise<void> {
  const { config, sql, flags, vectors, log } = await dependencies();
  // an idle system leaves the database alone, so that it may pause; the sweep keeps the marker until we were here
  if ((await flags.activeSince()) === undefined) return;
  const hasTime = () => remainingMs() > RESERVE_MS;
  const documents = await removeUnseenDocuments(sql, vectors, hasTime);
  const embeddings = await ageEmbeddingCache(sql, hasTime);
  const results = await removeExpiredResults(sql, config.jobRetentionDays, hasTime);
  const discoveries = await removeExpiredDiscoveries(sql);
  await ageCrawlCache(sql);
  const analysed = await analyseOutdatedChunks(sql, hasTime);
  const refreshed = await refreshIfStale(sql);
  log.info("maintained", {
    removed_documents: documents,
    aged_embeddings: embeddings,
    expired_results: results,
    expired_discoveries: discoveries,
    analysed_chunks: analysed,
    refreshed_statistics: refreshed,
  });
}
