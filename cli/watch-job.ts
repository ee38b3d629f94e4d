/**
 * Follows jobs over the HTTP API: the one loop that polls them, for the command line, the demonstration and whoever
 * measures.
 */
import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 500;
const SETTLED_POLL_MS = 1000;
/** For so long the API may say that it cannot answer at the moment: a database is restarted, and its job goes on. */
const PATIENCE_MS = 60_000;

/** 504: whoever was to answer was cut off from the database in the middle of it. */
const isBusy = (error: unknown): boolean =>
  error instanceof Error && (("status" in error && (error.status === 503 || error.status === 504)) || wasCutOff(error));

/** Whether the connection broke before the answer was there, of which a fault of `fetch` tells in its cause. */
function wasCutOff(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(String(error.code))) return true;
  return wasCutOff(error.cause);
}

/**
 * Yields what `read` gives, again and again, and last the one that has ended.
 *
 * @example
 * for await (const job of watchJob(() => readJob(api, jobId), hasEnded)) show(job.counts);
 *
 * @param pollMs between one read and the next
 * @param patienceMs how long an error with the `status` 503 or 504, or a connection that breaks, may come again
 * @throws what `read` throws
 */
export async function* watchJob<Job>(
  read: () => Promise<Job>,
  hasEnded: (job: Job) => boolean,
  pollMs: number = POLL_MS,
  patienceMs: number = PATIENCE_MS,
): AsyncGenerator<Job, void, undefined> {
  for (let answered = Date.now(); ; await delay(pollMs)) {
    try {
      const job = await read();
      answered = Date.now();
      yield job;
      if (hasEnded(job)) return;
    } catch (error) {
      if (!isBusy(error) || Date.now() - answered > patienceMs) throw error;
    }
  }
}

/** The last answer of what `status` says of itself that it is `completed` or `failed`: an import, an export, a run. */
export const settled = <Work extends { status: string }>(read: () => Promise<Work>): Promise<Work> =>
  lastOf(watchJob(read, ({ status }) => status === "completed" || status === "failed", SETTLED_POLL_MS));

/**
 * @param see is shown each of them
 * @returns the last one
 */
export async function lastOf<Job>(jobs: AsyncIterable<Job>, see: (job: Job) => void = () => {}): Promise<Job> {
  let last: { job: Job } | undefined;
  for await (const job of jobs) {
    see(job);
    last = { job };
  }
  if (last === undefined) throw new Error("nothing was read");
  return last.job;
}
