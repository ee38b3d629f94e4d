/** Paces what one task really sends to one host. */
import type { Clock } from "../../platform/clock.ts";
import type { Pace } from "./pace.ts";

/**
 * Goes by the times at which requests really left: by slots alone, a request that a slow connection delays and the one
 * after it would arrive together.
 */
export interface Pacer {
  /**
   * Waits until a request may leave.
   *
   * @throws the signal's reason
   */
  admit(pace: Pace, signal: AbortSignal): Promise<Admission>;
}

/** By which the pacer learns what became of a request that it admitted. */
export interface Admission {
  sent(): void;
  /** The request was not sent after all. */
  withdrawn(): void;
}

export function createPacer(clock: Clock): Pacer {
  /** Epoch ms of past requests, oldest first; undefined where one is admitted but has not left yet. */
  const requests: { at: number | undefined }[] = [];
  let departure = Promise.withResolvers<void>();
  return {
    async admit(pace, signal) {
      for (;;) {
        signal.throwIfAborted();
        const before = requests.at(-pace.burst);
        if (before === undefined) break;
        if (before.at === undefined) {
          await untilAborted(departure.promise, signal);
          continue;
        }
        const wait = before.at + pace.windowMs - clock.now();
        if (wait <= 0) break;
        await clock.sleep(Math.ceil(wait), signal);
      }
      const entry: { at: number | undefined } = { at: undefined };
      requests.push(entry);
      if (requests.length > 2 * pace.burst + 100) requests.splice(0, requests.length - pace.burst);
      const settle = (): void => {
        departure.resolve();
        departure = Promise.withResolvers<void>();
      };
      return {
        sent() {
          entry.at ??= clock.now();
          settle();
        },
        withdrawn() {
          const place = requests.indexOf(entry);
          if (place >= 0) requests.splice(place, 1);
          settle();
        },
      };
    },
  };
}

async function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const onAbort = (): void => aborted.resolve();
  signal.addEventListener("abort", onAbort);
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
