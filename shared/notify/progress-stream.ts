/** The progress of a job as server-sent events. */
import type { Clock } from "../platform/clock.ts";
import type { Logger } from "../platform/observability/log.ts";
import { SSE_PING, serverSentEvent, sseRetry } from "../platform/server-sent-events.ts";
import { isTransientError } from "../platform/transient-errors.ts";
import { deletedJob, hasEnded, type ProgressEvent } from "./job-progress.ts";

export interface ProgressStream {
  jobId: string;
  /** What was read before the stream began. */
  first: ProgressEvent;
  /** Id of the event that the client had last, in a stream before this one. */
  lastEventId: string | undefined;
  /** As the job is now; undefined where it is gone. */
  read(): Promise<ProgressEvent | undefined>;
  clock: Clock;
  /** Aborts once the client has left. */
  signal: AbortSignal;
  /** Whether the stream must end, so that the client comes again for the rest. */
  isTimeUp(): boolean;
  log: Logger;
}

const POLL_MS = 500;
const PING_MS = 15_000;
/** How long a client waits before it comes again. */
const RETRY_MS = 2_000;

/**
 * An event when something has changed since the one before, and the last one when the job has ended. While the database
 * does not answer, pings go on.
 */
export async function* progressEvents(stream: ProgressStream): AsyncGenerator<string> {
  const { clock, signal } = stream;
  let sentId = stream.lastEventId;
  let event: ProgressEvent | undefined = stream.first;
  let lastSent = clock.now();
  yield sseRetry(RETRY_MS);
  while (!signal.aborted) {
    if (event !== undefined && event.id !== sentId) {
      const { type, id, data } = event;
      yield serverSentEvent({ type, id, data: JSON.stringify(data) });
      sentId = event.id;
      lastSent = clock.now();
    } else if (clock.now() - lastSent >= PING_MS) {
      yield SSE_PING;
      lastSent = clock.now();
    }
    if ((event !== undefined && hasEnded(event)) || stream.isTimeUp()) return;
    if (!(await slept(stream))) return;
    event = await readAgain(stream);
  }
}

async function slept({ clock, signal }: ProgressStream): Promise<boolean> {
  try {
    await clock.sleep(POLL_MS, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** @returns undefined where the database does not answer at the moment */
async function readAgain({ jobId, read, log }: ProgressStream): Promise<ProgressEvent | undefined> {
  try {
    return (await read()) ?? deletedJob(jobId);
  } catch (error) {
    if (!isTransientError(error)) throw error;
    log.warn("the progress of a job could not be read: it is read again", { error, job_id: jobId });
    return undefined;
  }
}
