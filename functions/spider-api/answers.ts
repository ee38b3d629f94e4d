/** What the spider answers, by result mode. */
import { z } from "zod";
import type { CrawlState } from "../../shared/crawl/crawl-state.ts";
import { crawledPageSchema } from "../adapters/crawled-page.ts";
import { type RefusedSeed, refusedSeedSchema } from "./seeds.ts";

export const API_VERSION = "1.0";

const count = z.int().nonnegative();
const counts = {
  pages_crawled: count,
  pages_failed: count,
  duration_seconds: z.number().nonnegative(),
  stop_reason: z.string(),
};
/** There only where seeds were refused; the crawl went on without them. */
const refused = { refused_seeds: z.array(refusedSeedSchema).optional() };

export const crawlStatsSchema = z.object({ ...counts, domains: z.array(z.string()), ...refused });
const urlsSchema = crawlStatsSchema.extend({
  discovered_urls: z.array(z.string()),
  /** There only where not all are shown. */
  discovered_total: count.optional(),
  note: z.string().optional(),
});

const pagesSchema = crawlStatsSchema.extend({ api_version: z.string(), pages: z.array(crawledPageSchema) });

export const storedSchema = z.object({
  job_id: z.uuid(),
  status: z.string(),
  created_at: z.iso.datetime(),
  ...refused,
});
export const crawlAnswerSchema = z.union([pagesSchema, urlsSchema, crawlStatsSchema]);

/** A line of NDJSON, or the data of a server-sent event. */
export const recordSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("page"), data: crawledPageSchema }),
  z.object({ type: z.literal("stats"), data: z.object({ ...counts, ...refused }) }),
  z.object({
    type: z.literal("error"),
    data: z.object({ error_code: z.string(), message: z.string(), cursor: count.optional() }),
  }),
]);

const refusedOf = (seeds: readonly RefusedSeed[]) => (seeds.length === 0 ? {} : { refused_seeds: [...seeds] });

export function streamStats(state: CrawlState, seeds: readonly RefusedSeed[]) {
  return {
    pages_crawled: state.crawled,
    pages_failed: state.failed,
    duration_seconds: Math.round(state.durationSeconds * 1000) / 1000,
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

export function storedAnswer(
  job: { job_id: string; status: string; created_at: Date },
  seeds: readonly RefusedSeed[],
): z.input<typeof storedSchema> {
  const { job_id, status, created_at } = job;
  return { job_id, status, created_at: created_at.toISOString(), ...refusedOf(seeds) };
}
