/**
 * The results of a job as they come: its pages in the order of their cursors, none left out and none twice, and what
 * ends them. Nothing is read before it is asked for, so that a slow reader slows the reading down.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { isTransientError } from "../../platform/transient-errors.ts";
import type { JobWait } from "../jobs/views.ts";
import { type CrawlState, readCrawlState } from "./crawl-state.ts";
import type { ResultFields } from "./fields.ts";
import { keepListened, LISTENER_INTERVAL_MS } from "./listeners.ts";
import { recordStream, type StreamEnd } from "./metrics.ts";
import { type CrawledPage, type ResultReader, readResultPages } from "./pages.ts";

export type StreamItem =
  | { type: "page"; cursor: number; page: CrawledPage }
  /** Last; after it the job has no more results. */
  | { type: "stats"; state: CrawlState }
  /** The job waits for a host, and the stream goes on. */
  | ({ type: "error" } & JobWait)
  /**
   * The job failed, and `stats` follows; or, with a cursor, the stream ends here and goes on from there in another one.
   */
  | { type: "error"; code: "JOB_FAILED" | "RESULTS_GONE" | "STREAM_TIME_LIMIT"; message: string; cursor?: number }
  /** Nothing happened for a while. */
  | { type: "idle" };

export interface ResultStreamOptions {
  /** Cursor of the last page seen; 0 for none. */
  after: number;
  fields: ResultFields;
  /** Ends the stream, without a last item. */
  signal: AbortSignal;
  /** Milliseconds until the stream must have ended. */
  remainingMs(): number;
}

/** A page is seen so much later than it was ingested, at the most. */
const LOOK_MS = 150;
const IDLE_MS = 15_000;
/** For the pages that are being read, and for the end. */
const LAST_MS = 20_000;

/** For how long a service that does not answer is asked again; longer than a stream is silent. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 500;

type StreamDependencies = ResultReader & { clock: Clock; log: Logger };

/**
 * A cancelled job's stream ends with what has come by then. Throws nothing of its own where `signal` aborts. A passing
 * fault is waited out: the stream goes on after the last page it gave.
 */
export async function* streamResults(
  dependencies: StreamDependencies,
  jobId: string,
  options: ResultStreamOptions,
): AsyncGenerator<StreamItem, void, undefined> {
  const { clock, log } = dependencies;
  const started = clock.now();
  let how: StreamEnd = "left";
  let records = 0;
  try {
    for await (const item of retriedItems(dependencies, jobId, options)) {
      if (item.type === "error" && !("until" in item))
        how = item.code === "STREAM_TIME_LIMIT" ? "time_limit" : "failed";
      if (item.type === "stats" && how === "left") how = "complete";
      if (item.type === "page") records += 1;
      yield item;
    }
  } catch (error) {
    how = "failed";
    throw error;
  } finally {
    recordStream(log, jobId, how, records, (clock.now() - started) / 1000);
  }
}

/** Goes on after the last page where the services behind it do not answer for a moment. */
async function* retriedItems(
  dependencies: StreamDependencies,
  jobId: string,
  options: ResultStreamOptions,
): AsyncGenerator<StreamItem, void, undefined> {
  const { clock, log } = dependencies;
  const { signal, remainingMs } = options;
  let { after } = options;
  let failingSince: number | undefined;
  for (;;) {
    try {
      for await (const item of resultItems(dependencies, jobId, { ...options, after })) {
        failingSince = undefined;
        if (item.type === "page") after = item.cursor;
        yield item;
      }
      return;
    } catch (error) {
      failingSince ??= clock.now();
      const isOver = clock.now() - failingSince > PATIENCE_MS || remainingMs() < LAST_MS;
      if (isOver || !isTransientError(error)) throw error;
      log.warn("a stream could not be read: it goes on in a moment", { error, job_id: jobId, cursor: after });
      await clock.sleep(PAUSE_MS, signal).catch(() => {});
    }
  }
}

async function* resultItems(
  { clock, log, ...reader }: StreamDependencies,
  jobId: string,
  { after, fields, signal, remainingMs }: ResultStreamOptions,
): AsyncGenerator<StreamItem, void, undefined> {
  let cursor = after;
  let lastItem = clock.now();
  const told = new Set<string>();
  const listening = keepListening({ reader, log }, jobId);
  try {
    while (!signal.aborted) {
      const state = await readCrawlState(reader.sql, jobId);
      if (state === undefined) return yield gone(jobId);
      const before = cursor;
      if (state.results > cursor) {
        const limit = state.results - cursor;
        for await (const { cursor: next, page } of readResultPages(reader, jobId, { after: cursor, limit }, fields)) {
          cursor = next;
          yield { type: "page", cursor, page };
          lastItem = clock.now();
          if (remainingMs() < LAST_MS || signal.aborted) break;
        }
        if (cursor === before && !signal.aborted) {
          yield gone(jobId);
          if (!state.over) return;
        }
      }
      if (signal.aborted) return;
      if (state.over && (cursor >= state.results || cursor === before)) {
        if (state.status === "failed") yield failed(state);
        return yield { type: "stats", state };
      }
      for (const wait of state.waits.filter((each) => !told.has(waitKey(each)))) {
        told.add(waitKey(wait));
        yield { type: "error", ...wait };
        lastItem = clock.now();
      }
      if (remainingMs() < LAST_MS) return yield timeIsUp(jobId, cursor);
      if (cursor > before) continue;
      if (clock.now() - lastItem >= IDLE_MS) {
        lastItem = clock.now();
        yield { type: "idle" };
      }
      await clock.sleep(LOOK_MS, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(listening);
  }
}

const waitKey = ({ host, until }: JobWait): string => `${host} ${until}`;

/** Apart from the reading, which stands still while the client does not take what it has. */
function keepListening({ reader: { sql }, log }: { reader: ResultReader; log: Logger }, jobId: string): NodeJS.Timeout {
  return setInterval(() => {
    keepListened(sql, jobId).catch((error: unknown) => log.warn("a listener could not say that it listens", { error }));
  }, LISTENER_INTERVAL_MS);
}

const gone = (jobId: string): StreamItem => ({
  type: "error",
  code: "RESULTS_GONE",
  message: `The results of job ${jobId} are not kept any more`,
});

const failed = ({ error }: CrawlState): StreamItem => ({
  type: "error",
  code: "JOB_FAILED",
  message: error ?? "The job failed",
});

const timeIsUp = (jobId: string, cursor: number): StreamItem => ({
  type: "error",
  code: "STREAM_TIME_LIMIT",
  message:
    "A stream lasts 15 minutes at the most; the job goes on: resume with " +
    `GET /jobs/${jobId}/stream?cursor=${cursor}`,
  cursor,
});
