/** What a view shows of the API: asked for when it opens, again when asked to, and now and then where it changes. */
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiFault, call, withQuery } from "./client.ts";
import type { Page } from "./types.ts";

export interface Answer<T> {
  data: T | undefined;
  fault: ApiFault | undefined;
  reload(): void;
}

/**
 * @param path undefined: nothing is asked
 * @param everyMs asks again so long after each answer, while the tab is seen
 */
export function useApi<T>(path: string | undefined, everyMs?: number): Answer<T> {
  const [state, setState] = useState<{ path?: string | undefined; data?: T; fault?: ApiFault }>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === undefined) return;
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      try {
        const data =
          document.hidden && everyMs !== undefined ? undefined : await call<T>(path, { signal: gone.signal });
        if (gone.signal.aborted) return;
        if (data !== undefined) setState({ path, data });
      } catch (error) {
        if (gone.signal.aborted) return;
        setState((before) => ({ ...(before.path === path ? before : {}), path, fault: faultOf(error) }));
      }
      if (everyMs !== undefined) timer = setTimeout(() => void ask(), everyMs);
    };
    void ask();
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [path, everyMs, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const isCurrent = state.path === path;
  return { data: isCurrent ? state.data : undefined, fault: isCurrent ? state.fault : undefined, reload };
}

export interface Pages<T> {
  /** undefined while the first page is awaited. */
  items: readonly T[] | undefined;
  fault: ApiFault | undefined;
  /** undefined where nothing follows. */
  more: (() => void) | undefined;
  isLoading: boolean;
  reload(): void;
}

/** A list that comes in pages, by `cursor`. */
export function usePages<T>(path: string | undefined): Pages<T> {
  const [state, setState] = useState<{ path?: string; items?: T[]; next?: string | null; fault?: ApiFault }>({});
  const [isLoading, setLoading] = useState(false);
  const [round, setRound] = useState(0);
  const load = useCallback(
    async (cursor: string | undefined, signal?: AbortSignal) => {
      if (path === undefined) return;
      setLoading(true);
      try {
        const joined = cursor === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}${cursorQuery(cursor)}`;
        const page = await call<Page<T>>(joined, { signal });
        setState((before) => ({
          path,
          items: [...(cursor === undefined ? [] : (before.items ?? [])), ...page.items],
          next: page.next_cursor,
        }));
      } catch (error) {
        if (signal?.aborted) return;
        setState((before) => ({ ...(before.path === path ? before : {}), path, fault: faultOf(error) }));
      }
      setLoading(false);
    },
    [path],
  );
  useEffect(() => {
    const gone = new AbortController();
    void load(undefined, gone.signal);
    return () => gone.abort();
  }, [load, round]);
  const isCurrent = state.path === path;
  const next = isCurrent ? state.next : undefined;
  return {
    items: isCurrent ? state.items : undefined,
    fault: isCurrent ? state.fault : undefined,
    more: next ? () => void load(next) : undefined,
    isLoading,
    reload: () => setRound((before) => before + 1),
  };
}

export interface Action {
  run(): Promise<void>;
  isRunning: boolean;
  fault: ApiFault | undefined;
}

/** Something that a button does: once at a time, with its fault. */
export function useAction(act: () => Promise<void>): Action {
  const [isRunning, setRunning] = useState(false);
  const [fault, setFault] = useState<ApiFault>();
  return {
    isRunning,
    fault,
    async run() {
      if (isRunning) return;
      setRunning(true);
      setFault(undefined);
      try {
        await act();
      } catch (error) {
        setFault(faultOf(error));
      } finally {
        setRunning(false);
      }
    },
  };
}

/** @throws whatever is no fault of the API: a defect of the console */
export function faultOf(error: unknown): ApiFault {
  if (error instanceof ApiFault) return error;
  throw error;
}

const cursorQuery = (cursor: string): string => withQuery("", { cursor }).slice(1);
