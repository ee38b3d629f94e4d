/** The responses of the spider, by result mode. */
import { z } from "zod";
import { crawledPageSchema } from "../adapters/crawling/crawled-page.ts";
import {
  crawlStatsSchema,
  type RefusedSeed,
  refusedOf,
  refusedSeedsField,
  streamStatsSchema,
} from "../adapters/crawling/spider.ts";

export const API_VERSION = "1.0";

const count = z.int().nonnegative();

const urlsSchema = crawlStatsSchema.extend({
  discovered_urls: z.array(z.string()),
  /** There only where not all are shown. */
  discovered_total: count.optional(),
  note: z.string().optional(),
});
const pagesSchema = crawlStatsSchema.extend({ api_version: z.string(), pages: z.array(crawledPageSchema) });
export const crawlResponseSchema = z.union([pagesSchema, urlsSchema, crawlStatsSchema]);

export const storedSchema = z.object({
  job_id: z.uuid(),
  /** As `GET /jobs/{job_id}/stats` has it; `GET /api/v1/crawl/{job_id}` has the finer states. */
  status: z.literal("running"),
  created_at: z.iso.datetime(),
  ...refusedSeedsField,
});

/** A line of NDJSON, or the data of a server-sent event. */
export const recordSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("page"), data: crawledPageSchema }),
  z.object({ type: z.literal("stats"), data: streamStatsSchema }),
  z.object({
    type: z.literal("error"),
    data: z.object({
      error_code: z.string(),
      message: z.string(),
      cursor: count.optional(),
      /** That the job waits for, and until when: the stream goes on. */
      host: z.string().optional(),
      until: z.iso.datetime().optional(),
    }),
  }),
]);

export function storedResponse(
  job: { job_id: string; created_at: Date },
  seeds: readonly RefusedSeed[],
): z.input<typeof storedSchema> {
  const { job_id, created_at } = job;
  return { job_id, status: "running", created_at: created_at.toISOString(), ...refusedOf(seeds) };
}
