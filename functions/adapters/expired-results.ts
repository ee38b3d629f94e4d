/** Results that are not kept any more. */
import { resultsExpireAt } from "../../shared/crawl/job-results.ts";
import { ApiError } from "../../shared/platform/errors.ts";

/** @throws ApiError 410 RESULTS_EXPIRED where the results of the job are past their time */
export function refuseExpired(jobId: string, completedAt: Date | null, retentionDays: number): void {
  const expiry = resultsExpireAt(completedAt, retentionDays);
  if (expiry === null || expiry.getTime() > Date.now()) return;
  const expired_at = expiry.toISOString();
  const message = `The results of job ${jobId} were kept for ${retentionDays} days, until ${expired_at}; its pages are still in the archive`;
  throw new ApiError(410, message, {
    code: "RESULTS_EXPIRED",
    details: { expired_at, retention_days: retentionDays },
  });
}
