/** Waits for a crawl whose response somebody waits for, and ends it when they have left. */
import type { JobDependencies } from "../../../shared/crawl/jobs/dependencies.ts";
import type { CrawlState } from "../../../shared/crawl/results/crawl-state.ts";
import { waitForCrawl } from "../../../shared/crawl/results/wait.ts";
import { cancelJob } from "../../../shared/crawl/submit/cancel-job.ts";
import type { Clock } from "../../../shared/platform/clock.ts";

/**
 * Waits as `waitForCrawl` does. Nobody reads the response of a client that has left, so its job ends.
 * @throws AbortError where the client has left
 */
export async function waitOrCancel(
  dependencies: JobDependencies & { clock: Clock },
  jobId: string,
  signal: AbortSignal,
): Promise<CrawlState> {
  try {
    return await waitForCrawl(dependencies, jobId, signal);
  } catch (error) {
    if (signal.aborted) await cancelJob(dependencies, jobId);
    throw error;
  }
}

/** How a request waits: who sends an `Idempotency-Key` may come back for the crawl, which goes on without them. */
export const waitFor = ({ keyed }: { keyed: boolean }): typeof waitOrCancel => (keyed ? waitForCrawl : waitOrCancel);
