/** How fast a host may be asked: the arithmetic of its slots, and the pacing of what one task really sends. */
import type { Clock } from "../../platform/clock.ts";
import type { Pace } from "./pace.ts";

/**
 * Holds what one task sends to one host to its pace, by the times at which requests really left: by slots alone, a request
 * delayed by a slow connection and the one after it would arrive together.
 */
export interface Pacer {
  /** Waits until a request may leave. */
  turn(pace: Pace, signal: AbortSignal): Promise<Departing>;
}

/** Tells the pacer what became of a request that had its turn. */
export interface Departing {
  left(): void;
  /** It was not sent after all. */
  stayed(): void;
}

export function createPacer(clock: Clock): Pacer {
  /** Epoch ms of past requests, oldest first; undefined where one has its turn but has not left yet. */
  const sent: { at: number | undefined }[] = [];
  let departure = Promise.withResolvers<void>();
  return {
    async turn(pace, signal) {
      for (;;) {
        signal.throwIfAborted();
        const gate = sent.at(-pace.burst);
        if (gate === undefined) break;
        if (gate.at === undefined) {
          await untilAborted(departure.promise, signal);
          continue;
        }
        const wait = gate.at + pace.windowMs - clock.now();
        if (wait <= 0) break;
        await clock.sleep(Math.ceil(wait), signal);
      }
      const entry: { at: number | undefined } = { at: undefined };
      sent.push(entry);
      if (sent.length > 2 * pace.burst + 100) sent.splice(0, sent.length - pace.burst);
      const over = (): void => {
        departure.resolve();
        departure = Promise.withResolvers<void>();
      };
      return {
        left() {
          entry.at ??= clock.now();
          over();
        },
        stayed() {
          const place = sent.indexOf(entry);
          if (place >= 0) sent.splice(place, 1);
          over();
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
