/** The routes that list jobs with something that failed, and try it again. */
import { z } from "zod";
import { type DeadLetterView, listFailedJobs } from "../../shared/crawl/jobs/failed.ts";
import { retryJob } from "../../shared/crawl/submit/retry-job.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { CrawlApi } from "./dependencies.ts";
import { jobJson, jobResponseSchema, jobSchema, pageOf } from "./responses.ts";

export const deadLetterSchema = z.object({
  id: z.uuid(),
  queue: z.string(),
  /**
   * waiting: sent again at `redrive_at`; sent: on its way; recovered: what it asked for is done; ended: its URLs ended
   * as failed
   */
  state: z.enum(["waiting", "sent", "recovered", "ended"]),
  redrives: z.int(),
  redrive_at: z.iso.datetime().nullable(),
  /** Of the fault that can never pass; null where it might. */
  error_code: z.string().nullable(),
  created_at: z.iso.datetime(),
});

/** Why URLs of a job failed, the most frequent first; of a single job that is shown, none until it has ended. */
export const errorCountsSchema = z.array(z.object({ code: z.string(), count: z.int() }));

/** Pages that a browser was to open; null until the job has ended. */
export const renderingCountsSchema = z.object({ wanted: z.int(), rendered: z.int(), unrendered: errorCountsSchema });

export function deadLetterJson(letter: DeadLetterView): z.input<typeof deadLetterSchema> {
  return {
    ...letter,
    redrive_at: letter.redrive_at?.toISOString() ?? null,
    created_at: letter.created_at.toISOString(),
  };
}

export const listFailed = defineRoute(
  {
    method: "GET",
    path: "/api/v1/jobs/failed",
    scope: "read",
    summary: "Jobs that failed, have failed URLs or dead letters, newest first, with the error codes counted",
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(100).default(50)),
      cursor: cursorParameter(z.uuid()),
    }),
    response: pageOf(
      jobSchema.extend({
        retry_of: z.uuid().nullable(),
        errors: errorCountsSchema,
        /** The newest 20. */
        dead_letters: z.array(deadLetterSchema),
      }),
    ),
  },
  async ({ query: { limit, cursor } }, { sql }: CrawlApi) => {
    const found = await listFailedJobs(sql, { limit: limit + 1, after: cursor });
    const items = found.map(({ retry_of, errors, dead_letters, ...job }) => ({
      ...jobJson(job),
      retry_of,
      errors,
      dead_letters: dead_letters.map(deadLetterJson),
    }));
    return cursorPage(items, limit, (job) => job.job_id);
  },
);

export const retry = defineRoute(
  {
    method: "POST",
    path: "/api/v1/jobs/{job_id}/retry",
    errors: { 409: ["JOB_UNFINISHED", "NOTHING_TO_RETRY", "RETRY_UNFINISHED"] },
    scope: "write",
    summary: "Run a failed job again, or the failed URLs of one that completed, as a job of its own",
    params: z.strictObject({ job_id: z.uuid() }),
    query: z.strictObject({ only: z.enum(["all", "transient"]).default("all") }),
    status: 202,
    response: jobResponseSchema.extend({
      retry_of: z.uuid(),
      /** URLs that the retry starts from. */
      urls: z.int(),
      /** Failed URLs beyond the 10,000 that one retry holds. */
      left: z.int(),
    }),
  },
  async ({ params: { job_id: retryOf }, query: { only }, caller }, dependencies: CrawlApi) => {
    const { job, left } = await retryJob(dependencies, retryOf, { only, apiKeyId: caller.keyId });
    const urls = job.counts.discovered;
    const message = `Job taken: ${urls} URL${urls === 1 ? "" : "s"} again`;
    return { job_id: job.job_id, status: job.status, message, retry_of: retryOf, urls, left };
  },
);
