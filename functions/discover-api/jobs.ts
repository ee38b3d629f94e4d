/** The routes that create discovery jobs and show what they found. */
import { z } from "zod";
import { UrlRefusedError } from "../../shared/access/url-inspection.ts";
import { createDiscovery, type DiscoveryView, readDiscoveryJob } from "../../shared/crawl/discovery/jobs.ts";
import { readDiscovery } from "../../shared/crawl/discovery/result.ts";
import { parseSite, siteText } from "../../shared/crawl/discovery/site.ts";
import { DISCOVERY_SOURCES, noteSchema } from "../../shared/crawl/discovery/task.ts";
import { keywordsOf } from "../../shared/crawl/urls/relevance.ts";
import { urlPatternSchema } from "../../shared/crawl/urls/scope-of-seeds.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { cursorParameter, encodeCursor } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { hostOf, refusedUrl } from "../adapters/crawling/checked-url.ts";
import type { DiscoverApi } from "./dependencies.ts";

const MAX_URLS = 50_000;

/** A text that names what is looked for. */
export const scoreQuerySchema = z
  .string()
  .max(1_000)
  .refine((text) => keywordsOf(text).length > 0, "holds no word to look for");

/** What clients send that write all fields of the reference's model, whether they look for something or not. */
const DEFAULT_SCORE_THRESHOLD = 0.3;

/** The reference's DiscoveryRequest. Fields that it leaves empty may also be null. */
const discoveryRequestSchema = z
  .strictObject({
    domain: z.string().trim().min(1).max(2_048),
    sources: z.array(z.enum(DISCOVERY_SOURCES)).min(1).max(10).default(["sitemap"]),
    pattern: urlPatternSchema.nullish(),
    max_urls: z.int().min(1).max(MAX_URLS).default(500),
    score_query: scoreQuerySchema.nullish(),
    /** Of what `score_query` finds. */
    score_threshold: z.number().min(0).max(1).default(DEFAULT_SCORE_THRESHOLD),
  })
  .refine(
    ({ score_query, score_threshold }) =>
      score_threshold === DEFAULT_SCORE_THRESHOLD || typeof score_query === "string",
    {
      path: ["score_threshold"],
      message: "is for score_query alone: give one, or leave this out",
    },
  )
  .meta({
    anyOf: [
      { required: ["score_query"], properties: { score_query: { type: "string" } } },
      { properties: { score_threshold: { enum: [DEFAULT_SCORE_THRESHOLD] } } },
    ],
  });

const STATUSES = ["pending", "running", "completed", "failed"] as const;
const time = z.iso.datetime();

export const startDiscovery = defineRoute(
  {
    method: "POST",
    path: "/api/v1/discover",
    scope: "write",
    summary: "Find the URLs of a site in its sitemaps and feeds, and in Common Crawl's index",
    body: discoveryRequestSchema,
    status: 202,
    idempotent: true,
    response: z.object({ job_id: z.uuid(), status: z.enum(STATUSES), message: z.string() }),
  },
  async ({ body, caller, reservedId }, dependencies: DiscoverApi) => {
    const job = await createDiscovery(dependencies, {
      id: reservedId("job"),
      domain: siteOf(dependencies, body.domain),
      sources: [...new Set(body.sources)],
      pattern: body.pattern ?? null,
      maxUrls: body.max_urls,
      scoreQuery: body.score_query ?? null,
      scoreThreshold: body.score_threshold,
      apiKeyId: caller.keyId,
    });
    const message = `Discovery taken: at most ${job.max_urls} URLs of ${job.domain}`;
    return { job_id: job.job_id, status: job.status, message };
  },
);

/** @throws ApiError 400 URL_INVALID or 403 URL_BLOCKED */
function siteOf({ inspector }: DiscoverApi, domain: string): string {
  try {
    return siteText(parseSite(domain, inspector));
  } catch (error) {
    if (!(error instanceof UrlRefusedError)) throw error;
    throw refusedUrl(error, "domain", hostOf(domain) ?? hostOf(`https://${domain}`));
  }
}

const discoveredUrlSchema = z.object({
  url: z.string(),
  /** W3C datetime, as the list has it. */
  lastmod: z.string().nullable(),
  source: z.enum(["sitemap", "feed", "common_crawl"]),
  /** The sitemap or feed that names it first. */
  found_in: z.string(),
  /** 0 to 1; null without `score_query`. */
  score: z.number().nullable(),
});

export const showDiscovery = defineRoute(
  {
    method: "GET",
    path: "/api/v1/discover/{job_id}",
    scope: "read",
    summary: "A discovery job: its state, what it could not read, and page by page the URLs that it found",
    params: z.strictObject({ job_id: z.uuid() }),
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(1_000).default(100)),
      cursor: cursorParameter(z.string().regex(/^\d{1,6}$/)),
    }),
    response: z.object({
      job_id: z.uuid(),
      domain: z.string(),
      sources: z.array(z.enum(DISCOVERY_SOURCES)),
      pattern: z.string().nullable(),
      max_urls: z.int(),
      score_query: z.string().nullable(),
      score_threshold: z.number(),
      status: z.enum(STATUSES),
      error: z.string().nullable(),
      urls_found: z.int(),
      notes: z.array(noteSchema),
      created_at: time,
      completed_at: time.nullable(),
      results: z.object({
        items: z.array(discoveredUrlSchema),
        next_cursor: z.string().nullable(),
        has_more: z.boolean(),
      }),
    }),
  },
  async ({ params: { job_id }, query: { limit, cursor } }, dependencies: DiscoverApi) => {
    const job = await readDiscoveryJob(dependencies.sql, job_id);
    if (job === undefined || job.list !== null)
      throw new ApiError(404, `There is no discovery job ${job_id}`, { code: "NOT_FOUND" });
    const { result_key: _, list: _list, created_at, completed_at, ...shown } = job;
    const offset = Number(cursor ?? 0);
    const items = await urlsOf(dependencies, job, offset, limit);
    const has_more = offset + items.length < job.urls_found && items.length > 0;
    const next_cursor = has_more ? encodeCursor(String(offset + items.length)) : null;
    return {
      ...shown,
      created_at: created_at.toISOString(),
      completed_at: completed_at?.toISOString() ?? null,
      results: { items, next_cursor, has_more },
    };
  },
);

async function urlsOf({ objects }: DiscoverApi, { job_id, result_key }: DiscoveryView, offset: number, limit: number) {
  if (result_key === null) return [];
  const urls = await readDiscovery(objects, result_key, { offset, limit });
  if (urls !== undefined) return urls;
  const message = `The URLs that job ${job_id} found are kept for 30 days: start another discovery`;
  throw new ApiError(410, message, { code: "RESULTS_EXPIRED" });
}
