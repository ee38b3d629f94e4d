/** Jobs whose results are asked for: that they exist, and that their results are still kept. */
import { type CrawlState, readCrawlState } from "../../../shared/crawl/results/crawl-state.ts";
import { resultsExpireAt } from "../../../shared/crawl/results/retention.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { ApiError } from "../../../shared/platform/errors.ts";

/** @throws ApiError 404 NOT_FOUND */
export async function requireCrawl(sql: Sql, jobId: string): Promise<CrawlState> {
  const state = await readCrawlState(sql, jobId);
  if (state === undefined) throw new ApiError(404, `There is no job ${jobId}`, { code: "NOT_FOUND" });
  return state;
}

/** @throws ApiError 410 RESULTS_EXPIRED where the results of the job are past their time */
export function refuseExpired({ id, completedAt }: CrawlState, retentionDays: number): void {
  const expiry = resultsExpireAt(completedAt, retentionDays);
  if (expiry === null || expiry.getTime() > Date.now()) return;
  const expired_at = expiry.toISOString();
  const message =
    `The results of job ${id} were kept for ${retentionDays} days, until ` +
    `${expired_at}; its pages are still in the archive`;
  throw new ApiError(410, message, {
    code: "RESULTS_EXPIRED",
    details: { expired_at, retention_days: retentionDays },
  });
}
