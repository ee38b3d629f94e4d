/** Waits until a crawl has ended, or its time is up. */
import type { Clock } from "../../platform/clock.ts";
import type { Sql } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { retryTransient } from "../../platform/transient-errors.ts";
import { endLateJob } from "../frontier/deadline.ts";
import { type CrawlState, readCrawlState } from "./crawl-state.ts";
import { keepListened, LISTENER_INTERVAL_MS } from "./listeners.ts";

const FIRST_LOOK_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
/** For what is under way when the time is up. */
const GRACE_MS = 1_000;
const LATE_LOOK_MS = 100;
/** For a database that does not answer: the crawl goes on meanwhile, and would be asked for twice. */
const PATIENCE_MS = 10_000;

/**
 * Embedding is not waited for. A job whose `deadline_at` passes is ended, and told of as it is a moment later: with the stop
 * reason `timeout`, and without the pages that are still under way then.
 * @throws AbortError once `signal` aborts; the job goes on
 */
export async function waitForCrawl(
  { sql, clock, log }: { sql: Sql; clock: Clock; log: Logger },
  jobId: string,
  signal: AbortSignal,
): Promise<CrawlState> {
  const patient = async <T>(work: () => Promise<T>) =>
    await retryTransient(clock, { until: clock.now() + PATIENCE_MS }, work);
  let listenedAt = clock.now();
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 1.3)) {
    const state = await patient(() => requireState(sql, jobId));
    if (state.over) return state;
    const left = (state.deadlineAt?.getTime() ?? Number.POSITIVE_INFINITY) - clock.now();
    if (left <= 0) break;
    if (state.endsUnheard && clock.now() - listenedAt >= LISTENER_INTERVAL_MS) {
      await patient(() => keepListened(sql, jobId));
      listenedAt = clock.now();
    }
    await clock.sleep(Math.min(pause, Math.max(1, left)), signal);
  }
  await patient(() => endLateJob({ sql, log }, jobId));
  const patience = clock.now() + GRACE_MS;
  for (;;) {
    const state = await patient(() => requireState(sql, jobId));
    if (state.over) return state;
    if (clock.now() >= patience) return { ...state, stopReason: "timeout" };
    await clock.sleep(LATE_LOOK_MS, signal);
  }
}

async function requireState(sql: Sql, jobId: string): Promise<CrawlState> {
  const state = await readCrawlState(sql, jobId);
  if (state === undefined) throw new Error(`Job ${jobId} is gone`);
  return state;
}
