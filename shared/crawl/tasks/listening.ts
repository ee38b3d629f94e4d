/**
 * Tells fetch that somebody looks at a job as it goes: then captures are delivered by the second, and otherwise when
 * there are enough of them.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Logger } from "../../platform/observability/log.ts";
import type { JobFlags } from "./job-flags.ts";

export interface Listening {
  /** Somebody looks at the job now. Never fails: a job whose mark is lost shows its pages a little later. */
  note(jobId: string): Promise<void>;
  /** Passes the chunks on, and notes that somebody takes them for as long as they are taken. */
  during<Chunk>(jobId: string, chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk, void, undefined>;
}

const NOTE_EVERY_MS = 10_000;
const MOST_JOBS = 1_000;

export function createListening({
  flags,
  clock,
  log,
}: {
  flags: Pick<JobFlags, "markListened">;
  clock: Pick<Clock, "now">;
  log: Logger;
}): Listening {
  /** Epoch ms of the last note by job, the oldest first. */
  const noted = new Map<string, number>();
  const listening: Listening = {
    async note(jobId) {
      const now = clock.now();
      if (now - (noted.get(jobId) ?? Number.NEGATIVE_INFINITY) < NOTE_EVERY_MS) return;
      noted.delete(jobId);
      noted.set(jobId, now);
      for (const oldest of noted.keys()) {
        if (noted.size <= MOST_JOBS) break;
        noted.delete(oldest);
      }
      try {
        await flags.markListened(jobId);
      } catch (error) {
        noted.delete(jobId);
        log.warn("a listener could not say that it listens: pages come later", { error, job_id: jobId });
      }
    },
    async *during(jobId, chunks) {
      void listening.note(jobId);
      const timer = setInterval(() => void listening.note(jobId), NOTE_EVERY_MS);
      try {
        yield* chunks;
      } finally {
        clearInterval(timer);
      }
    },
  };
  return listening;
}
