/**
 * Polls once a second what may stop the requests of a task: its job was cancelled, its host was blocked. No request
 * leaves on an old answer.
 */
import type { Clock } from "../../platform/clock.ts";

export const POLL_EVERY_MS = 1000;
/** A cancelled job makes no request later than this, however long the answers to the polls take. */
const RECENT_MS = 2 * POLL_EVERY_MS;

/** @param began epoch ms at which the poll began */
export const isRecentPoll = (began: number, now: number): boolean => now - began < RECENT_MS;

export interface FreshnessCheck {
  /** Whether the last poll is so recent that a request may leave. */
  readonly recent: boolean;
  /** Polls, unless the last poll is recent. */
  ensureRecent(): Promise<void>;
}

export interface StopPoll extends FreshnessCheck {
  /**
   * Polls until stopped.
   * @param onFault called for each poll that fails
   */
  start(onFault?: (error: unknown) => void): void;
  /** Ends the polling, and waits for what is under way. */
  stop(): Promise<void>;
}

/**
 * @param poll one poll; there is never more than one at a time
 * @param deadline epoch ms at which a poll is due besides; null: none
 */
export function createStopPoll(clock: Clock, poll: () => Promise<void>, deadline: number | null): StopPoll {
  /** Epoch ms at which the last poll began that has ended. */
  let polledAt = Number.NEGATIVE_INFINITY;
  let polling: Promise<void> | undefined;
  const stopping = new AbortController();
  let loop: Promise<void> = Promise.resolve();

  const isRecent = (): boolean => isRecentPoll(polledAt, clock.now());
  const pollOnce = async (): Promise<void> => {
    const began = clock.now();
    await poll();
    polledAt = began;
  };
  const pollNow = async (): Promise<void> => {
    polling ??= pollOnce().finally(() => {
      polling = undefined;
    });
    await polling;
  };
  const pauseMs = (): number => {
    const leftMs = (deadline ?? Number.POSITIVE_INFINITY) - clock.now();
    return leftMs > 0 ? Math.min(POLL_EVERY_MS, leftMs) : POLL_EVERY_MS;
  };
  const repeat = async (onFault: (error: unknown) => void): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await clock.sleep(pauseMs(), stopping.signal);
        await pollNow();
      } catch (error) {
        if (!stopping.signal.aborted) onFault(error);
      }
    }
  };

  return {
    get recent() {
      return isRecent();
    },
    async ensureRecent() {
      if (!isRecent()) await pollNow();
    },
    start(onFault = () => undefined) {
      loop = repeat(onFault);
    },
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
