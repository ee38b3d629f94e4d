/** How a job goes: told by the server as it happens, and asked for where there is no stream to be had. */
import { useEffect, useState } from "preact/hooks";
import { type ApiFault, call } from "./client.ts";
import { readEvents } from "./events.ts";
import type { JobProgress } from "./types.ts";
import { faultOf } from "./use-api.ts";

const POLL_MS = 2000;
const ENDED = new Set(["completed", "failed", "cancelled"]);

export const hasEnded = ({ status }: Pick<JobProgress, "status">): boolean => ENDED.has(status);

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
    const tell = (progress: JobProgress, isStreamed: boolean): void => {
      if (!gone.signal.aborted) setState({ progress, fault: undefined, isStreamed });
    };
    watch(id, gone.signal, tell).catch((error: unknown) => {
      if (!gone.signal.aborted) setState((before) => ({ ...before, fault: faultOf(error) }));
    });
    return () => gone.abort();
  }, [id]);
  return state;
}

async function watch(
  id: string,
  signal: AbortSignal,
  tell: (progress: JobProgress, isStreamed: boolean) => void,
): Promise<void> {
  for (;;) {
    try {
      for await (const { event, data } of readEvents(`/api/v1/crawl/${encodeURIComponent(id)}/stream`, signal)) {
        const progress = JSON.parse(data) as JobProgress;
        // a job that was deleted has no counts any more
        if (progress.counts !== null) tell(progress, true);
        if (event !== "progress") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      // too many listen, or the line is cut: it goes on by asking. What the API refuses for good the next call tells
      if (faultOfStream(error) === undefined) throw error;
    }
    const job = await call<JobProgress>(`/api/v1/crawl/${encodeURIComponent(id)}?limit=1`, { signal });
    tell(job, false);
    if (hasEnded(job)) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (signal.aborted) return;
  }
}

/** A body that is cut is a TypeError of the browser's. */
function faultOfStream(error: unknown): unknown {
  return error instanceof TypeError ? error : faultOf(error);
}
