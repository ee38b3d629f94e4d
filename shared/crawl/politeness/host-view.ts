/** What one task knows of a host: read once, then kept up to date by the task's own writes and its stop poll. */
import type { HostState, HostStates } from "./host-state.ts";

export interface KnownHost {
  readonly name: string;
  /** Reads at the first call only. */
  current(): Promise<HostState>;
  /** What is known without reading. */
  readonly seen: HostState | undefined;
  refresh(): Promise<void>;
  learn(state: HostState): void;
}

export function createKnownHost(name: string, states: Pick<HostStates, "read">): KnownHost {
  let seen: HostState | undefined;
  let reading: Promise<void> | undefined;
  let learnt = 0;
  /** A silence that was asked for never gets shorter, so the longest is the newest. */
  const keep = (state: HostState): void => {
    seen = { ...state, hold_until: Math.max(state.hold_until, seen?.hold_until ?? 0) };
  };
  const refresh = async (): Promise<void> => {
    const before = learnt;
    const state = await states.read(name);
    // what was learnt meanwhile may be newer than what was read
    if (learnt === before) keep(state);
  };
  return {
    name,
    get seen() {
      return seen;
    },
    async current() {
      for (;;) {
        if (seen !== undefined) return seen;
        reading ??= refresh().finally(() => {
          reading = undefined;
        });
        await reading;
      }
    },
    refresh,
    learn(state) {
      learnt += 1;
      keep(state);
    },
  };
}
