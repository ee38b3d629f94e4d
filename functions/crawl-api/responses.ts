/** Jobs as the crawl API shows them. */
import { z } from "zod";
import { NO_DOCUMENT } from "../../shared/crawl/jobs/no-document.ts";
import type { JobUrlView, JobView } from "../../shared/crawl/jobs/views.ts";
import { crawlConfigSchema } from "../../shared/crawl/settings/crawl-config.ts";
import { PRIORITIES, STRATEGIES } from "../../shared/crawl/settings/job-settings.ts";
import { hostWaitSchema } from "../../shared/crawl/tasks/task-note.ts";
import { scopeSchema } from "../../shared/crawl/urls/scope.ts";
import { jobCountsSchema } from "../adapters/crawling/job-counts.ts";
import { JOB_STATUSES } from "./requests.ts";

/** The reference's JobResponse. */
export const jobResponseSchema = z.object({
  job_id: z.uuid(),
  status: z.enum(JOB_STATUSES),
  message: z.string(),
});

/** The reference's BatchJobResponse: one entry per URL, in the order of the request. */
export const batchResponseSchema = z.object({
  jobs: z.array(
    z.object({
      url: z.string(),
      /** null where the URL was refused: `code` and `message` say why. */
      job_id: z.uuid().nullable(),
      status: z.enum(JOB_STATUSES),
      message: z.string(),
      code: z.string().nullable(),
    }),
  ),
  /** Jobs that were taken. */
  total_submitted: z.int(),
  failed_count: z.int(),
});

const time = z.iso.datetime();
const count = z.int().nonnegative();

export const jobSchema = z.object({
  job_id: z.uuid(),
  kind: z.enum(["pages", "site", "archive", "import"]),
  status: z.enum(JOB_STATUSES),
  /** null until the job has ended. */
  stop_reason: z.string().nullable(),
  error: z.string().nullable(),
  priority: z.enum(PRIORITIES),
  collection_id: z.uuid().nullable(),
  cancel_requested: z.boolean(),
  /** Hosts that it has to wait for, and until when. */
  waits: z.array(hostWaitSchema.extend({ host: z.string() })),
  counts: jobCountsSchema,
  /** At most ten seeds are shown; the results have them all. */
  settings: z.object({
    seeds: z.array(z.string()),
    max_depth: count,
    max_pages: count,
    strategy: z.enum(STRATEGIES),
    tags: z.array(z.string()),
  }),
  created_at: time,
  started_at: time.nullable(),
  completed_at: time.nullable(),
});

/** What a job runs with beside its `settings`: the values in force, with secrets hidden. */
export const jobRunSchema = z.object({
  scope: scopeSchema,
  keywords: z.array(z.string()),
  score_threshold: z.number(),
  max_pages_per_host: count.nullable(),
  /** null: as the deployment is set. */
  concurrency: count.nullable(),
  /** Whether its pages become searchable. */
  index: z.boolean(),
  cache: z.enum(["use", "bypass"]),
  cache_ttl_s: count,
  config: crawlConfigSchema,
});

export function jobJson(job: JobView): z.input<typeof jobSchema> {
  const { updated_at: _, created_at, started_at, completed_at, ...rest } = job;
  return {
    ...rest,
    created_at: created_at.toISOString(),
    started_at: started_at?.toISOString() ?? null,
    completed_at: completed_at?.toISOString() ?? null,
  };
}

export const jobUrlSchema = z.object({
  url: z.string(),
  depth: count,
  state: z.enum(["pending", "claimed", "crawled", "failed", "skipped"]),
  attempts: count,
  /** Why it has no page, or none yet. */
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  discovered_from: z.string().nullable(),
  capture_id: z.int().nullable(),
  final_url: z.string().nullable(),
  /** 0 where no answer came; null where none was asked for yet. */
  status_code: z.int().nullable(),
  mime_type: z.string().nullable(),
  title: z.string().nullable(),
  fetched_at: time.nullable(),
  fetch_time_ms: z.number().nullable(),
  payload_bytes: z.int().nullable(),
  not_modified: z.boolean().nullable(),
  truncated: z.boolean().nullable(),
  /** A recent capture was taken instead of a request. */
  reused: z.boolean().nullable(),
  /** Where it was opened in a browser, or was to be. */
  rendered: z
    .object({
      /** What `auto` saw in the HTML, or `always`. */
      reason: z.string(),
      renderer: z.enum(["chromium", "crawl4ai", "pdfjs"]).nullable(),
      /** Whether the archive has its DOM. */
      archived: z.boolean(),
      error_code: z.string().nullable(),
      error_message: z.string().nullable(),
    })
    .nullable(),
  document_id: z.uuid().nullable(),
  /** Why a crawled page has no document; null where it has one, had one, or may get one. */
  no_document: z.enum(NO_DOCUMENT).nullable(),
});

export function jobUrlJson(url: JobUrlView): z.input<typeof jobUrlSchema> {
  return { ...url, fetched_at: url.fetched_at?.toISOString() ?? null };
}

/** The reference's CursorPaginatedResponse. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable(), has_more: z.boolean() });
