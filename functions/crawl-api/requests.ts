/** The bodies and queries that the routes of the crawl API take. */
import { z } from "zod";
import { STRATEGIES } from "../../shared/crawl/settings/job-settings.ts";
import { urlPatternsSchema } from "../../shared/crawl/urls/scope-of-seeds.ts";
import { orNull } from "../adapters/api/or-null.ts";
import { bestFirstOptions, bestFirstRule, checkBestFirst } from "../adapters/crawling/best-first.ts";
import { cacheOption, jobOptions } from "../adapters/crawling/job-options.ts";
import { jobWebhookOptions } from "../adapters/crawling/webhook-options.ts";

const MAX_URLS_PER_JOB = 1_000;
const MAX_URLS_PER_BATCH = 100;

/** The URL guard checks it, and has codes of its own. */
const url = z.string().min(1);

/** Whether pages are shown again whose documents were deleted. */
const restoreDeleted = z.boolean().default(false);

/** Requests at once for the whole job. */
const concurrency = orNull(z.int().min(1).max(1_000));

export const crawlRequestSchema = z
  .strictObject({
    url: url.optional(),
    urls: z.array(url).min(1).max(MAX_URLS_PER_JOB).optional(),
    concurrency,
    cache: cacheOption("use"),
    restore_deleted: restoreDeleted,
    ...jobOptions,
    ...jobWebhookOptions,
  })
  .refine((body) => (body.url === undefined) !== (body.urls === undefined), {
    path: ["urls"],
    message: "give either urls or url",
  })
  .meta({ oneOf: [{ required: ["url"] }, { required: ["urls"] }] });

export const batchRequestSchema = z.strictObject({
  urls: z.array(url).min(1).max(MAX_URLS_PER_BATCH),
  cache: cacheOption("use"),
  restore_deleted: restoreDeleted,
  ...jobOptions,
  ...jobWebhookOptions,
});

/** Of the reference. */
const DEFAULT_SCORE_THRESHOLD = 0.4;

export const deepRequestSchema = z
  .strictObject({
    url,
    strategy: z.enum(STRATEGIES).default("bfs"),
    ...bestFirstOptions(DEFAULT_SCORE_THRESHOLD),
    /** Which links are followed: those on the same host, on the same registrable domain, or below the same path. */
    scope: z.enum(["host", "domain", "prefix"]).default("host"),
    /** RE2 patterns: links are followed where at least one is found in the URL, if there are any. */
    include: urlPatternsSchema,
    /** RE2 patterns: links are not followed where one is found in the URL. */
    exclude: urlPatternsSchema,
    /** Links from the first page to the deepest. */
    max_depth: z.int().min(0).max(1_000).default(2),
    /** A hard limit of pages that are fetched. */
    max_pages: z.int().min(1).max(1_000_000).default(100),
    /** The same for each host. */
    max_pages_per_host: orNull(z.int().min(1).max(1_000_000)),
    concurrency,
    /** After so long the crawl ends with what it has. */
    timeout_seconds: orNull(z.number().min(1).max(604_800)),
    cache: cacheOption("bypass"),
    restore_deleted: restoreDeleted,
    ...jobOptions,
    ...jobWebhookOptions,
  })
  .superRefine(checkBestFirst(DEFAULT_SCORE_THRESHOLD))
  .meta(bestFirstRule(DEFAULT_SCORE_THRESHOLD));

export const JOB_STATUSES = ["pending", "running", "embedding", "completed", "failed", "cancelled"] as const;
