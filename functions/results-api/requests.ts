/** What both routes take: the id of a job. */
import { z } from "zod";
import { type ResultState, readResultState } from "../../shared/crawl/job-results.ts";
import type { Sql } from "../../shared/platform/database.ts";
import { ApiError } from "../../shared/platform/errors.ts";

export const params = z.strictObject({ job_id: z.uuid() });

/** @throws ApiError 404 NOT_FOUND */
export async function requireJob(sql: Sql, jobId: string): Promise<ResultState> {
  const job = await readResultState(sql, jobId);
  if (job === undefined) throw new ApiError(404, `There is no job ${jobId}`, { code: "NOT_FOUND" });
  return job;
}
