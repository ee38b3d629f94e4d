/** Runs what may be made to exhaust whoever reads it in a thread of its own, within bounds of time and memory. */
import { Worker } from "node:worker_threads";

export interface ThreadBounds {
  timeoutMs: number;
  /** In megabytes (MiB). */
  heapMb: number;
  /** Of buffers beside the heap, where streams are unpacked, in bytes. */
  externalBytes: number;
  signal?: AbortSignal | undefined;
}

/** Why a thread ended. */
export type ThreadEnd = { reason: "done" | "timeout" | "memory" | "stopped" } | { reason: "failed"; error: Error };

const LOOK_EVERY_MS = 50;

/**
 * @param script with no environment; what it writes to its console is dropped
 * @param onMessage is called with what the thread posts: `true` ends it
 * @throws whatever `signal` was aborted with before the start
 */
export async function runBounded<Message>(
  script: URL,
  workerData: unknown,
  { timeoutMs, heapMb, externalBytes, signal }: ThreadBounds,
  onMessage: (message: Message) => boolean,
): Promise<ThreadEnd> {
  signal?.throwIfAborted();
  const worker = new Worker(script, {
    workerData,
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  const { promise, resolve } = Promise.withResolvers<ThreadEnd>();
  const stop = () => resolve({ reason: "stopped" });
  worker.on("message", (message: Message) => {
    if (onMessage(message)) resolve({ reason: "done" });
  });
  worker.on("error", (error: NodeJS.ErrnoException) =>
    resolve(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? { reason: "memory" } : { reason: "failed", error }),
  );
  worker.on("exit", () => resolve({ reason: "failed", error: new Error("It ended before its time") }));
  signal?.addEventListener("abort", stop, { once: true });
  const look = async (): Promise<void> => {
    const { external_memory: external } = await worker.getHeapStatistics();
    if (external > externalBytes) resolve({ reason: "memory" });
  };
  const timers = [
    setTimeout(() => resolve({ reason: "timeout" }), timeoutMs),
    setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS),
  ];
  try {
    return await promise;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    await worker.terminate();
  }
}
