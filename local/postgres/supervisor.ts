/**
 * Starts a PostgreSQL server again that ended by itself: killed for the memory it took, or crashed. It recovers from
 * its log, on the same port, so that whoever lost a connection finds it again.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type Started, stopServer, watch } from "./server.ts";

export interface Supervisor {
  readonly pid: number;
  /** Over when the process is gone. */
  stop(): Promise<void>;
}

export interface SupervisorOptions {
  restart(signal: AbortSignal): Promise<Started>;
  onTrouble(error: Error): void;
}

/** Between two attempts; twice as long after each that failed. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

export function supervise(first: Started, { restart, onTrouble }: SupervisorOptions): Supervisor {
  const stopping = new AbortController();
  let current = first;
  let watchdog: ChildProcess = watch(first.pid);

  const revive = async (): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; !stopping.signal.aborted; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
      try {
        current = await restart(stopping.signal);
        watchdog = watch(current.pid);
        return onTrouble(new Error("PostgreSQL runs again: what was under way is tried again"));
      } catch (cause) {
        if (stopping.signal.aborted) return;
        const seconds = pauseMs / 1000;
        onTrouble(new Error(`PostgreSQL is gone and did not come back; next try in ${seconds} s. ${String(cause)}`));
        await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  };

  const keep = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const { server } = current;
      if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
      watchdog.kill("SIGKILL");
      if (stopping.signal.aborted) return;
      const how = server.signalCode ?? `exit code ${server.exitCode}`;
      onTrouble(new Error(`PostgreSQL ended by itself (${how}): it is started again`));
      await revive();
    }
  };
  const kept = keep();

  return {
    get pid() {
      return current.pid;
    },
    async stop() {
      stopping.abort();
      watchdog.kill("SIGKILL");
      await stopServer(current.server);
      await kept;
      // a restart that came through while it was being called off
      await stopServer(current.server);
      watchdog.kill("SIGKILL");
    },
  };
}
