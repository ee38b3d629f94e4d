/** What a crawl has done, as each answer of the spider's family tells it. */
import { z } from "zod";
import type { CrawlState } from "../../../shared/crawl/results/crawl-state.ts";
import { type RefusedSeed, refusedSeedSchema } from "./spider-seeds.ts";

/** There only where seeds were refused; the crawl went on without them. */
export const refusedSeedsField = { refused_seeds: z.array(refusedSeedSchema).optional() };

export const streamStatsSchema = z.object({
  pages_crawled: z.int().nonnegative(),
  pages_failed: z.int().nonnegative(),
  duration_seconds: z.number().nonnegative(),
  stop_reason: z.string(),
  ...refusedSeedsField,
});
export const crawlStatsSchema = streamStatsSchema.extend({ domains: z.array(z.string()) });

export const refusedOf = (seeds: readonly RefusedSeed[]) => (seeds.length === 0 ? {} : { refused_seeds: [...seeds] });

/** Seconds, to three digits. */
export const toMilliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

export function streamStats(state: CrawlState, seeds: readonly RefusedSeed[]): z.input<typeof streamStatsSchema> {
  return {
    pages_crawled: state.crawled,
    pages_failed: state.failed,
    duration_seconds: toMilliseconds(state.durationSeconds),
    stop_reason: state.stopReason ?? "completed",
    ...refusedOf(seeds),
  };
}

export function statsAnswer(
  state: CrawlState,
  domains: readonly string[],
  seeds: readonly RefusedSeed[],
): z.input<typeof crawlStatsSchema> {
  return { ...streamStats(state, seeds), domains: [...domains] };
}
