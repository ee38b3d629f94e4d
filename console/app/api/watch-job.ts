/** How a job goes: told by the server as it happens, and asked for where there is no stream to be had. */
import { useEffect, useState } from "preact/hooks";
import { ApiFault, call } from "./client.ts";
import { readEvents } from "./events.ts";
import { followJob, type JobSource } from "./follow-job.ts";
import type { JobProgress } from "./types.ts";
import { faultOf } from "./use-api.ts";

const POLL_MS = 2000;

export interface Watched {
  progress: JobProgress | undefined;
  fault: ApiFault | undefined;
  /** Whether the server tells by itself. */
  isStreamed: boolean;
}

export function useJobProgress(id: string): Watched {
  const [state, setState] = useState<Watched>({ progress: undefined, fault: undefined, isStreamed: false });
  useEffect(() => {
    const gone = new AbortController();
    const fail = (error: unknown): void => {
      if (!gone.signal.aborted) setState((before) => ({ ...before, fault: faultOf(error), isStreamed: false }));
    };
    const watch = async (): Promise<void> => {
      for await (const told of followJob(sourceOf(id, gone.signal))) {
        if (gone.signal.aborted) return;
        if ("progress" in told) setState({ ...told, fault: undefined });
        // an answer that was cut is asked for again
        else if (told.error instanceof ApiFault) fail(told.error);
      }
    };
    watch().catch(fail);
    return () => gone.abort();
  }, [id]);
  return state;
}

function sourceOf(id: string, signal: AbortSignal): JobSource {
  const path = `/api/v1/crawl/${encodeURIComponent(id)}`;
  return {
    events: (lastEventId) => readEvents(`${path}/stream`, { signal, lastEventId }),
    ask: () => call<JobProgress>(`${path}?limit=1`, { signal }),
    async pause() {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      signal.throwIfAborted();
    },
    isPassing: (error) => !signal.aborted && isPassing(error),
  };
}

/** A body that is cut is a TypeError of the browser's. */
const isPassing = (error: unknown): boolean =>
  error instanceof TypeError ||
  (error instanceof ApiFault && (error.status === 0 || error.status === 429 || error.status >= 500));
