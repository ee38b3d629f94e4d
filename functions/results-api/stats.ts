/** The route that shows the reference's JobStats of a job. */
import { z } from "zod";
import { defineStreamRoute } from "../adapters/api/stream-route.ts";
import { toMilliseconds, troubleFields, troubleOf } from "../adapters/crawling/spider.ts";
import { requireCrawl } from "../adapters/crawling/stored-results.ts";
import type { ResultsApi } from "./dependencies.ts";
import { params } from "./requests.ts";

const ENDED = ["completed", "failed", "cancelled"] as const;
const statsSchema = z.object({
  job_id: z.uuid(),
  /** `running` until the job has ended. */
  status: z.enum(["running", ...ENDED]),
  created_at: z.iso.datetime(),
  completed_at: z.iso.datetime().nullable(),
  pages_crawled: z.int(),
  pages_failed: z.int(),
  /** From acceptance to the end of the crawl, or to now. Embedding is not part of it. */
  duration_seconds: z.number(),
  /** null until the job has ended. */
  stop_reason: z.string().nullable(),
  ...troubleFields,
});

export const showStats = defineStreamRoute(
  {
    method: "GET",
    path: "/jobs/{job_id}/stats",
    scope: "read",
    summary: "What a job has done so far, and why it stopped",
    params,
    response: statsSchema,
  },
  async ({ params: { job_id } }, { sql }: ResultsApi) => {
    const { status, crawled, failed, error, createdAt, completedAt, ...state } = await requireCrawl(sql, job_id);
    return {
      job_id,
      status: ENDED.find((each) => each === status) ?? ("running" as const),
      created_at: createdAt.toISOString(),
      completed_at: completedAt?.toISOString() ?? null,
      pages_crawled: crawled,
      pages_failed: failed,
      duration_seconds: toMilliseconds(state.durationSeconds),
      stop_reason: completedAt === null ? null : state.stopReason,
      ...troubleOf({ error, waits: state.waits }),
    };
  },
);
