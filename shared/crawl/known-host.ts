/** What one task knows of a host: read once, then kept as the task's own writes and its watch tell. */
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

export function createKnownHost(name: string, states: HostStates): KnownHost {
  let seen: HostState | undefined;
  let reading: Promise<void> | undefined;
  const refresh = async (): Promise<void> => {
    seen = await states.read(name);
  };
  return {
    name,
    get seen() {
      return seen;
    },
    async current() {
      for (;;) {
        if (seen !== undefined) return seen;
        reading ??= refresh();
        await reading;
      }
    },
    refresh,
    learn(state) {
      seen = state;
    },
  };
}
