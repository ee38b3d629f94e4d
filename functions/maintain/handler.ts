/**
 * Removes replaced generations with their vectors and expired results, compares the vector store with the rows,
 * analyses chunks of an earlier version anew, refreshes the corpus statistics, ages the embedding cache, begins the
 * upkeep of the WARC files. Each step is done whatever becomes of the others.
 */
import { z } from "zod";
import { forgetIdempotencyKeys } from "../../shared/access/idempotency.ts";
import { fillUrlKeys } from "../../shared/archive/cdx/url-keys.ts";
import { scheduleUpkeep } from "../../shared/archive/files/runs.ts";
import { removeExpiredDiscoveries } from "../../shared/crawl/discovery/jobs.ts";
import { ageCrawlCache } from "../../shared/crawl/frontier/crawl-cache.ts";
import { removeExpiredResults } from "../../shared/crawl/results/retention.ts";
import { forgetEntries } from "../../shared/crawl/sources/forget-entries.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import {
  ageEmbeddingCache,
  analyseOutdatedChunks,
  endDeletedDocuments,
  endOldGenerations,
  removeUnseenDocuments,
} from "../../shared/knowledge/documents/maintenance.ts";
import { embedderDescriptor } from "../../shared/knowledge/embedders/registry.ts";
import { dropLeavingChunks } from "../../shared/knowledge/embedding/chunk-size-change.ts";
import { dropLeavingModels } from "../../shared/knowledge/embedding/model-change.ts";
import { compareStore } from "../../shared/knowledge/embedding/store-comparison.ts";
import { refreshIfStale } from "../../shared/knowledge/search/corpus-statistics.ts";
import { forgetSearchChanges, noteSearchChange } from "../../shared/knowledge/search/search-version.ts";
import { createVectorStore } from "../../shared/knowledge/vector-stores/registry.ts";
import type { VectorStore } from "../../shared/knowledge/vector-stores/vector-store.ts";
import { RESTORABLE_DAYS } from "../../shared/library/restorable.ts";
import { dynamoClient } from "../../shared/platform/aws/clients.ts";
import { createStateTable } from "../../shared/platform/aws/state-table.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { createLogger } from "../../shared/platform/observability/log.ts";
import { once, onceMade } from "../../shared/platform/once.ts";
import { createInvokedHandler } from "../adapters/invoked/handler.ts";

const dependencies = once(() => {
  const config = loadConfig();
  const descriptor = embedderDescriptor(config);
  const dynamo = dynamoClient();
  return {
    config,
    sql: configuredDatabase(config),
    state: createStateTable(dynamo, config.stateTable),
    flags: createJobFlags(dynamo, config.stateTable),
    descriptor,
    vectors: descriptor === null ? null : onceMade(() => createVectorStore(config, descriptor)),
    log: createLogger({ function: "maintain" }, config.logLevel),
  };
});
type Dependencies = ReturnType<typeof dependencies>;

/** Kept for the refresh of the statistics. */
const RESERVE_MS = 60_000;
/** Of the time of a run. */
const COMPARISON_MS = 60_000;
/** Between two comparisons of the whole store, unless it is empty. */
const COMPARISON_INTERVAL_MS = 3_600_000;
/** Where the comparison of the vector store goes on. */
const COMPARISON_KEY = "vectors#compared";

/** @returns how many rows or points it did something about */
type Step = (dependencies: Dependencies, hasTime: () => boolean) => Promise<number>;

const STEPS: Readonly<Record<string, Step>> = {
  ended_documents: ({ sql }) => endDeletedDocuments(sql, RESTORABLE_DAYS),
  ended_generations: ({ sql, config }) => endOldGenerations(sql, config.keptGenerations),
  async removed_documents({ sql, vectors }, hasTime) {
    const opened = await vectors?.();
    return await removeUnseenDocuments(sql, opened ?? null, hasTime);
  },
  aged_embeddings: ({ sql, config }, hasTime) => ageEmbeddingCache(sql, config.embeddingCacheTtlS, hasTime),
  expired_results: ({ sql, config }, hasTime) => removeExpiredResults(sql, config.jobRetentionDays, hasTime),
  keyed_captures: ({ sql }, hasTime) => fillUrlKeys(sql, hasTime),
  begun_upkeep: ({ sql, config }) => scheduleUpkeep(sql, config.warcUpkeepHours),
  forgotten_idempotency_keys: ({ sql }) => forgetIdempotencyKeys(sql),
  forgotten_entries: ({ sql }, hasTime) => forgetEntries(sql, hasTime),
  expired_discoveries: ({ sql }) => removeExpiredDiscoveries(sql),
  async aged_captures({ sql }) {
    await ageCrawlCache(sql);
    return 0;
  },
  forgotten_changes: ({ sql }) => forgetSearchChanges(sql),
  analysed_chunks: async ({ sql }, hasTime) => {
    const analysed = await analyseOutdatedChunks(sql, hasTime);
    if (analysed > 0) await noteSearchChange(sql);
    return analysed;
  },
  async dropped_models({ sql, config, descriptor }) {
    if (descriptor === null) return 0;
    return await dropLeavingModels(sql, descriptor, async (model) => {
      const left = await createVectorStore(config, { ...descriptor, ...model });
      await left.drop();
      await left.close();
    });
  },
  async dropped_chunks({ sql, vectors }, hasTime) {
    const opened = await vectors?.();
    return await dropLeavingChunks(sql, opened ?? null, hasTime);
  },
  async compared_vectors(all, hasTime) {
    const opened = await all.vectors?.();
    return opened === undefined ? 0 : await compare(all, opened, hasTime);
  },
};

export const handler = createInvokedHandler({ schema: z.unknown(), handle: maintain });

async function maintain(_event: unknown, { remainingMs }: { remainingMs(): number }): Promise<void> {
  const all = dependencies();
  const { sql, flags, log } = all;
  // an idle system leaves the database alone, so that it may pause; the sweep keeps the marker until we were here
  if ((await flags.activeSince()) === undefined) return;
  const hasTime = () => remainingMs() > RESERVE_MS;
  const done: Record<string, number> = {};
  const failed: string[] = [];
  for (const [name, step] of Object.entries(STEPS)) {
    try {
      done[name] = await step(all, hasTime);
    } catch (error) {
      log.error("maintenance could not do one of its steps: the next run tries again", { error, step: name });
      failed.push(name);
    }
  }
  const refreshed = await refreshIfStale(sql);
  log.info("maintained", { ...done, refreshed_statistics: refreshed, failed_steps: failed });
  // whoever watches the function's errors is to see it
  if (failed.length > 0) throw new Error(`Maintenance could not do all its steps: ${failed.join(", ")}`);
}

async function compare({ sql, state, descriptor, log }: Dependencies, vectors: VectorStore, hasTime: () => boolean) {
  if (descriptor === null) return 0;
  const ends = performance.now() + COMPARISON_MS;
  const { after, finished_at: finishedAt = 0 } = (await state.read(COMPARISON_KEY)) ?? {};
  const isDue = typeof after === "string" || Date.now() - Number(finishedAt) > COMPARISON_INTERVAL_MS;
  if (!isDue && !(await vectors.isEmpty(AbortSignal.timeout(COMPARISON_MS)))) return 0;
  const compared = await compareStore(
    sql,
    vectors,
    descriptor,
    typeof after === "string" ? after : null,
    () => hasTime() && performance.now() < ends,
  );
  await state.put(COMPARISON_KEY, { after: compared.next, finished_at: compared.next === null ? Date.now() : 0 });
  const { removedPoints, lostChunks, staleChunks } = compared;
  if (lostChunks > 0) log.warn("vectors are lost, and made again", { lost_chunks: lostChunks });
  if (staleChunks > 0)
    log.warn("vectors carry what their documents no longer have, and are made again", { stale_chunks: staleChunks });
  return removedPoints + lostChunks + staleChunks;
}
