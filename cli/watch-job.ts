/**
 * Follows jobs over the HTTP API: the one loop that polls them, for the command line, the demonstration and whoever
 * measures.
 */
import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 500;

/**
 * Yields what `read` gives, again and again, and last the one that has ended.
 *
 * @example
 * for await (const job of watchJob(() => readJob(api, jobId), hasEnded)) show(job.counts);
 *
 * @param pollMs between one read and the next
 * @throws what `read` throws
 */
export async function* watchJob<Job>(
  read: () => Promise<Job>,
  hasEnded: (job: Job) => boolean,
  pollMs: number = POLL_MS,
): AsyncGenerator<Job, void, undefined> {
  for (;;) {
    const job = await read();
    yield job;
    if (hasEnded(job)) return;
    await delay(pollMs);
  }
}

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
