/** How a job goes, by whatever way tells it: its stream, taken up where it was cut, and asking where there is none. */
import type { ServerEvent } from "./server-event.ts";
import type { JobProgress } from "./types.ts";

const ENDED = new Set(["completed", "failed", "cancelled"]);

export const hasEnded = ({ status }: Pick<JobProgress, "status">): boolean => ENDED.has(status);

export interface JobSource {
  /**
   * Those of one connection.
   * @param lastEventId of the last event that has come: the server tells what is newer
   */
  events(lastEventId: string | undefined): AsyncIterable<ServerEvent>;
  /** The job as it is now. */
  ask(): Promise<JobProgress>;
  /** Waits before the next connection. */
  pause(): Promise<void>;
  /** Whether the stream may be had later, or the answer may be another one. */
  isPassing(error: unknown): boolean;
}

export type Told = { progress: JobProgress; isStreamed: boolean } | { error: unknown };

/**
 * Until the job has ended, or is gone.
 * @throws whatever the source throws that does not pass
 */
export async function* followJob(source: JobSource): AsyncGenerator<Told, void, undefined> {
  let lastEventId: string | undefined;
  for (;;) {
    try {
      for await (const { event, id, data } of source.events(lastEventId)) {
        const progress = JSON.parse(data) as JobProgress;
        lastEventId = id ?? lastEventId;
        // a job that was deleted has no counts any more
        if (progress.counts !== null) yield { progress, isStreamed: true };
        if (event !== "progress") return;
      }
    } catch (error) {
      // too many listen, or the line is cut. What the API refuses for good the next call tells
      if (!source.isPassing(error)) throw error;
    }
    try {
      const progress = await source.ask();
      yield { progress, isStreamed: false };
      if (hasEnded(progress)) return;
    } catch (error) {
      if (!source.isPassing(error)) throw error;
      yield { error };
    }
    await source.pause();
  }
}
