/** What may be asked of the crawl API. */
import { z } from "zod";
import { cacheOption, jobOptions } from "../adapters/job-options.ts";

export const MAX_URLS_PER_JOB = 1_000;
export const MAX_URLS_PER_BATCH = 100;

/** Judged by the URL guard, which answers with its own codes. */
const url = z.string().min(1);

export const crawlRequestSchema = z
  .strictObject({
    url: url.optional(),
    urls: z.array(url).min(1).max(MAX_URLS_PER_JOB).optional(),
    cache: cacheOption("use"),
    ...jobOptions,
  })
  .refine((body) => (body.url === undefined) !== (body.urls === undefined), {
    path: ["urls"],
    message: "give either urls or url",
  });

export const batchRequestSchema = z.strictObject({
  urls: z.array(url).min(1).max(MAX_URLS_PER_BATCH),
  cache: cacheOption("use"),
  ...jobOptions,
});

export const deepRequestSchema = z.strictObject({
  url,
  strategy: z
    .enum(["bfs", "dfs", "best_first"])
    .refine((strategy) => strategy === "bfs", "only bfs is supported so far")
    .default("bfs"),
  /** Links from the first page to the deepest. */
  max_depth: z.int().min(0).max(1_000).default(2),
  /** A hard limit of pages that are fetched. */
  max_pages: z.int().min(1).max(1_000_000).default(100),
  cache: cacheOption("bypass"),
  ...jobOptions,
});

export const JOB_STATUSES = ["pending", "running", "embedding", "completed", "failed", "cancelled"] as const;
