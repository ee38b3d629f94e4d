/** The services of an installation in a state folder: of the runtime that runs there, or started for the caller. */
import { TOPOLOGY } from "../infra/topology.ts";
import { restoredEnvironment } from "./environment.ts";
import { AlreadyRunning, readRuntimeInfo } from "./home.ts";
import { startRuntime } from "./runtime.ts";

export interface OpenServices {
  /** The environment of handlers. */
  env: Record<string, string>;
  /** Of the runtime that runs there; undefined where none does. */
  runningAt: string | undefined;
  /** Ends what was started. */
  stop(): Promise<void>;
}

export async function openServices(home: string): Promise<OpenServices> {
  try {
    const runtime = await startRuntime({ topology: TOPOLOGY, home, onlyServices: true });
    return { env: runtime.env, runningAt: undefined, stop: () => runtime.stop() };
  } catch (error) {
    if (!(error instanceof AlreadyRunning)) throw error;
    const running = readRuntimeInfo(home);
    if (running === undefined) throw error;
    return { env: restoredEnvironment(running.env, process.env), runningAt: running.url, stop: async () => {} };
  }
}
