/** When it was last looked at what may stop requests: none leaves on an old look. */
import type { Clock } from "../../platform/clock.ts";

export const LOOK_EVERY_MS = 1000;
/** A cancelled job makes no request later than this, however long the answers to the looks take. */
const RECENT_MS = 2 * LOOK_EVERY_MS;

export interface FreshnessCheck {
  /** Whether the last look is so recent that a request may leave. */
  readonly recent: boolean;
  /** Looks, unless the last look is recent. */
  look(): Promise<void>;
}

export interface OwnFreshnessCheck extends FreshnessCheck {
  /** Looks, however recent the last look is. */
  lookNow(): Promise<void>;
}

/** @param lookAround one look; there is never more than one at a time */
export function createFreshnessCheck(clock: Clock, lookAround: () => Promise<void>): OwnFreshnessCheck {
  /** Epoch ms at which the last look began that has ended. */
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  const isRecent = (): boolean => clock.now() - lookedAt < RECENT_MS;
  const oneLook = async (): Promise<void> => {
    const began = clock.now();
    await lookAround();
    lookedAt = began;
  };
  const lookNow = async (): Promise<void> => {
    looking ??= oneLook().finally(() => {
      looking = undefined;
    });
    await looking;
  };

  return {
    get recent() {
      return isRecent();
    },
    lookNow,
    async look() {
      if (!isRecent()) await lookNow();
    },
  };
}
