/** A clock for the local scheduler that goes where a test tells it to. */
import type { SchedulerClock } from "../../local/scheduler/alarm-clock.ts";

export interface TravellingClock extends SchedulerClock {
  /** Lets the time pass: every timer rings at its own time. */
  passTo(time: string): void;
  /** Nothing rang meanwhile, as while a machine sleeps or is off. */
  leapTo(time: string): void;
}

export function travellingClock(start: string): TravellingClock {
  let now = Date.parse(start);
  const timers = new Set<{ at: number; ring: () => void }>();
  const due = (until: number) => [...timers].filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];
  const ringAll = (until: number, moves: boolean) => {
    for (let next = due(until); next !== undefined; next = due(until)) {
      timers.delete(next);
      if (moves) now = Math.max(now, next.at);
      next.ring();
    }
  };
  return {
    now: () => now,
    after(ms, ring) {
      const timer = { at: now + ms, ring };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    passTo(time) {
      ringAll(Date.parse(time), true);
      now = Date.parse(time);
    },
    leapTo(time) {
      now = Date.parse(time);
      ringAll(now, false);
    },
  };
}
