/** Bounds what the bodies of requests take of memory while they are under way, however many arrive at once. */

export interface BodyBudget {
  /**
   * Waits until there is room.
   * @param bytes the most that the body may have
   * @returns what gives the room back, or undefined where none came free in time, or nobody waits any more
   */
  take(bytes: number, gone: AbortSignal): Promise<(() => void) | undefined>;
}

/** @param patienceMs longest wait */
export function createBodyBudget(totalBytes: number, patienceMs: number): BodyBudget {
  let free = totalBytes;
  const waiting: { bytes: number; admit(): void }[] = [];

  const admitNext = (): void => {
    for (let next = waiting[0]; next !== undefined && next.bytes <= free; next = waiting[0]) {
      waiting.shift();
      next.admit();
    }
  };
  const give = (bytes: number) => () => {
    free += bytes;
    admitNext();
  };

  return {
    async take(bytes, gone) {
      const share = Math.min(bytes, totalBytes);
      const giveOnce = once(give(share));
      if (waiting.length === 0 && share <= free) {
        free -= share;
        return giveOnce;
      }
      return await new Promise((resolve) => {
        const place = {
          bytes: share,
          admit() {
            free -= share;
            settle(giveOnce);
          },
        };
        const settle = (outcome: (() => void) | undefined): void => {
          clearTimeout(timer);
          gone.removeEventListener("abort", giveUp);
          resolve(outcome);
        };
        const giveUp = (): void => {
          const at = waiting.indexOf(place);
          if (at !== -1) waiting.splice(at, 1);
          settle(undefined);
          // whoever stood behind may need less
          admitNext();
        };
        const timer = setTimeout(giveUp, patienceMs);
        gone.addEventListener("abort", giveUp);
        waiting.push(place);
      });
    },
  };
}

function once(give: () => void): () => void {
  let given = false;
  return () => {
    if (given) return;
    given = true;
    give();
  };
}
