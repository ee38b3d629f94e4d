/** A clock that runs faster than the day, for tests of waits that are minutes or seconds long. */
import { type Clock, systemClock } from "../../shared/platform/clock.ts";

/** @param speed how many of its seconds pass in one */
export function fastClock(speed = 10): Clock {
  const began = Date.now();
  return {
    now: () => began + Math.round((Date.now() - began) * speed),
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  };
}
