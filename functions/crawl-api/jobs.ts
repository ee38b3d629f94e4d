/** The routes that list and show jobs, and cancel them. */
import { z } from "zod";
import { deadLettersOf } from "../../shared/crawl/jobs/failed.ts";
import { readFrontier } from "../../shared/crawl/jobs/frontier-view.ts";
import { readRenderingCounts } from "../../shared/crawl/jobs/rendering-counts.ts";
import { listJobs, listJobUrls, readJob, readJobRun } from "../../shared/crawl/jobs/views.ts";
import { readErrorCounts } from "../../shared/crawl/jobs/without-pages.ts";
import { cancelJob } from "../../shared/crawl/submit/cancel-job.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { cursorPage, cursorParameter, encodeCursor } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { CrawlApi } from "./dependencies.ts";
import { deadLetterJson, deadLetterSchema, errorCountsSchema, renderingCountsSchema } from "./failures.ts";
import { JOB_STATUSES } from "./requests.ts";
import { jobJson, jobResponseSchema, jobRunSchema, jobSchema, jobUrlJson, jobUrlSchema, pageOf } from "./responses.ts";

const params = z.strictObject({ job_id: z.uuid() });
/** Of `listJobUrls`: a priority and the hash of a URL. */
const urlPosition = z.string().regex(/^\S+\.[0-9a-f]{64}$/);
const limitOr = (limit: number) => numberParameter(z.int().min(1).max(500).default(limit));

const frontierSchema = z.object({
  next: z.array(z.object({ url: z.string(), depth: z.int(), attempts: z.int(), not_before: z.iso.datetime() })),
  /** By depth, state, status and error code; null for jobs of more than 200,000 URLs. */
  counts: z
    .array(
      z.object({
        depth: z.int(),
        state: z.enum(["pending", "claimed", "crawled", "failed", "skipped"]),
        status_code: z.int().nullable(),
        error_code: z.string().nullable(),
        count: z.int(),
      }),
    )
    .nullable(),
});

export const showJob = defineRoute(
  {
    method: "GET",
    path: "/api/v1/crawl/{job_id}",
    scope: "read",
    summary: "A job: its state, counts and stop reason, and page by page what became of its URLs",
    params,
    query: z.strictObject({
      limit: limitOr(100),
      cursor: cursorParameter(urlPosition),
      /** URLs that are next; 0: none, and no counts. */
      frontier: numberParameter(z.int().min(0).max(100).default(0)),
    }),
    response: jobSchema.extend({
      run: jobRunSchema.nullable(),
      frontier: frontierSchema.nullable(),
      errors: errorCountsSchema,
      rendering: renderingCountsSchema.nullable(),
      dead_letters: z.array(deadLetterSchema),
      results: pageOf(jobUrlSchema),
    }),
  },
  async ({ params: { job_id }, query }, { sql, listening }: CrawlApi) => {
    const job = await readJob(sql, job_id);
    const run = await readJobRun(sql, job_id);
    if (job === undefined) throw notFound(job_id);
    // who asks once will ask again
    if (job.completed_at === null) await listening.note(job_id);
    const { urls, next } = await listJobUrls(sql, job_id, { limit: query.limit, after: query.cursor });
    const next_cursor = next === null ? null : encodeCursor(next);
    const letters = (await deadLettersOf(sql, [job_id])).get(job_id) ?? [];
    const dead_letters = letters.map(deadLetterJson);
    const frontier = query.frontier === 0 ? null : await readFrontier(sql, job, query.frontier);
    return {
      ...jobJson(job),
      run,
      frontier: frontier && {
        ...frontier,
        next: frontier.next.map((each) => ({ ...each, not_before: each.not_before.toISOString() })),
      },
      errors: await readErrorCounts(sql, job_id),
      rendering: await readRenderingCounts(sql, job_id),
      dead_letters,
      results: { items: urls.map(jobUrlJson), next_cursor, has_more: next !== null },
    };
  },
);

export const cancel = defineRoute(
  {
    method: "POST",
    path: "/api/v1/crawl/{job_id}/cancel",
    scope: "write",
    summary: "Cancel a job; what it fetched so far stays in the archive",
    params,
    response: jobResponseSchema,
  },
  async ({ params: { job_id } }, dependencies: CrawlApi) => {
    const outcome = await cancelJob(dependencies, job_id);
    const job = outcome === "missing" ? undefined : await readJob(dependencies.sql, job_id);
    if (job === undefined) throw notFound(job_id);
    if (outcome === "finished") {
      throw new ApiError(409, `Job ${job_id} has already ended: it is ${job.status}`, {
        code: "CONFLICT",
        details: { status: job.status },
      });
    }
    const message = job.status === "cancelled" ? "Job cancelled" : "The job ends once what is under way has come back";
    return { job_id, status: job.status, message };
  },
);

export const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/jobs",
    scope: "read",
    summary: "Jobs, newest first",
    query: z.strictObject({
      status: z.enum(JOB_STATUSES).optional(),
      limit: limitOr(50),
      cursor: cursorParameter(z.uuid()),
    }),
    response: pageOf(jobSchema),
  },
  async ({ query: { status, limit, cursor } }, { sql }: CrawlApi) => {
    const found = await listJobs(sql, { status, limit: limit + 1, after: cursor });
    return cursorPage(found.map(jobJson), limit, (job) => job.job_id);
  },
);

const notFound = (jobId: string) => new ApiError(404, `There is no job ${jobId}`, { code: "NOT_FOUND" });
