/** Creates jobs: writes the job with its seeds and claims the first of them. */
import { createWebhook, type NewWebhook } from "../../notify/webhooks/webhooks.ts";
import { inTransaction, isUniqueViolation, type Transaction } from "../../platform/database/database.ts";
import { uuidv7 } from "../../platform/ids.ts";

import { refuseBlockedSeeds } from "../frontier/blocked-hosts.ts";
import { claimUrls } from "../frontier/claim.ts";
import { dispatch } from "../frontier/dispatch.ts";
import { addUrls, seedUrl } from "../frontier/frontier.ts";
import { countDailyJob } from "../jobs/daily-jobs.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { type JobRow, lockJob, settleJob } from "../jobs/lifecycle.ts";
import { requirePagesLeft } from "../jobs/page-quota.ts";
import { type JobView, readJob } from "../jobs/views.ts";
import type { CrawlConfig } from "../settings/crawl-config.ts";
import type { Priority } from "../settings/job-settings.ts";
import { type JobSettings, jobSettingsSchema } from "../settings/job-settings.ts";
import { keyRules, normalizeUrl } from "../urls/normalize-url.ts";
import type { Scope } from "../urls/scope.ts";

type HandlingField = "concurrency" | "index" | "replaces" | "restore_deleted" | "cache" | "cache_ttl_s" | "fields";

export interface NewJob {
  /** What its id must be: where there is a job with it, that is the one. */
  id?: string | undefined;
  kind: "pages" | "site";
  /** Absolute http(s) URLs that the URL guard has let through; the same page twice counts once. */
  seeds: string[];
  scope: Scope;
  /** Links from a seed to the deepest page. */
  maxDepth: number;
  /** URLs that may be fetched, at the most. */
  maxPages: number;
  priority: Priority;
  config: CrawlConfig;
  /** Breadth first, unless it says otherwise. */
  order?: Partial<Pick<JobSettings, "strategy" | "keywords" | "score_threshold" | "max_pages_per_host">>;
  /** How much is asked for at once, what becomes of the pages, and whether recent captures do; see `JobSettings`. */
  handling?: Partial<Pick<JobSettings, HandlingField>>;
  /** Seconds until the crawl ends with what it has; null or left out: no limit. */
  timeoutS?: number | null;
  delivery?: "answer" | "stream" | "store" | null;
  /** A `stream` job that ends once nobody listens. */
  endsUnheard?: boolean;
  retryOf?: string | null;
  collectionId: string | null;
  tags: string[];
  /** The archive job that it crawls for. */
  edition?: { archiveJobId: number; sourceCode: string; hidden: boolean };
  /** The monitored source that it crawls for. */
  crawlSourceId?: string | null;
  /** Its URLs are those that a list names, which its one seed is: see `takeList`. */
  awaitsList?: boolean;
  apiKeyId: string | null;
  /** Told of this job alone. */
  webhook?: NewWebhook | undefined;
}

/**
 * Writes the job with its seeds, claims the first of them, and sends their tasks after the commit. The job is taken
 * once this resolves, even if no message could be sent: the sweep sends them.
 * @param admit runs first in the job's transaction; what it throws refuses the job
 * @throws ApiError 403 DOMAIN_BLOCKED where the hosts of all seeds are blocked; 429 QUOTA_EXCEEDED, 403
 * STORAGE_QUOTA_EXCEEDED where the key may not fetch a single page; RangeError without a seed, or with limits below
 * 1 page or 0 links; TypeError where a seed is not a URL
 */
export async function createJob(
  dependencies: JobDependencies,
  job: NewJob,
  admit?: (tx: Transaction) => Promise<void>,
): Promise<JobView> {
  const { sql, flags } = dependencies;
  const made = job.id === undefined ? undefined : await readJob(sql, job.id);
  if (made !== undefined) return made;
  const seeds = [...new Set(job.seeds.map((seed) => normalizeUrl(seed, keyRules(job.config))))];
  if (seeds.length === 0) throw new RangeError("A job needs at least one seed URL");
  if (job.maxPages < 1 || job.maxDepth < 0) throw new RangeError("A job needs maxPages ≥ 1 and maxDepth ≥ 0");
  const settings = jobSettingsSchema.parse({
    seeds,
    scope: job.scope,
    max_depth: job.maxDepth,
    max_pages: job.maxPages,
    ...job.order,
    ...job.handling,
    config: job.config,
    tags: [...new Set(job.tags.map((tag) => tag.trim().toLowerCase()))].filter((tag) => tag !== ""),
  });
  await refuseBlockedSeeds(sql, seeds);
  const jobId = job.id ?? uuidv7();
  // before the commit: a job that the sweep does not know of could hang
  await flags.markActive();
  const taken = inTransaction(sql, async (tx) => {
    await admit?.(tx);
    if (job.apiKeyId !== null) await countDailyJob(tx, job.apiKeyId);
    await insertJob(tx, jobId, job, settings);
    if (job.webhook !== undefined) await createWebhook(tx, jobId, job.webhook);
    const row = (await lockJob(tx, jobId)) as JobRow;
    await requirePagesLeft(tx, row);
    if (job.awaitsList) return [];
    await addUrls(tx, row, seeds.map(seedUrl));
    const claimed = await claimUrls(tx, row, null);
    // the hosts of all seeds may have been blocked meanwhile
    if (row.counts.open === 0) await settleJob(tx, jobId, dependencies.log);
    return claimed;
  });
  const tasks = await taken.catch((error: unknown) => {
    // the same request, under way elsewhere, was faster
    if (job.id !== undefined && isUniqueViolation(error)) return [];
    throw error;
  });
  await dispatch(dependencies, tasks);
  return (await readJob(sql, jobId)) as JobView;
}

async function insertJob(tx: Transaction, jobId: string, job: NewJob, settings: JobSettings): Promise<void> {
  const { edition } = job;
  await tx`
    insert into jobs (id, kind, priority, api_key_id, collection_id, generation_id, delivery, retry_of, deadline_at,
      watched_at, archive_job_id, source_code, hidden, crawl_source_id, awaits_list,
      settings)
    values (${jobId}, ${job.kind}, ${job.priority}, ${job.apiKeyId}, ${job.collectionId}, ${uuidv7()},
      ${job.delivery ?? null}, ${job.retryOf ?? null},
      now() + ${job.timeoutS ?? null}::float8 * interval '1 second', case when ${job.endsUnheard ?? false} then now() end,
      ${edition?.archiveJobId ?? null}, ${edition?.sourceCode ?? null}, ${edition?.hidden ?? false},
      ${job.crawlSourceId ?? null}, ${job.awaitsList ?? false},
      ${JSON.stringify(settings)}::text::jsonb)`;
  for (const tag of settings.tags) {
    await tx`insert into tags (id, name) values (${uuidv7()}, ${tag}) on conflict do nothing`;
  }
}
