import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TOPOLOGY } from "../../../../infra/topology.ts";
import { startTicking } from "../../../../local/lambda/async-events.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTES = 10;

/** @returns the seconds of each tick, by function */
function ticksOf(waiting: (functionName: string) => number = () => 0): Map<string, number[]> {
  const ticks = new Map<string, number[]>();
  const started = Date.now();
  const stop = startTicking(TOPOLOGY, {
    waiting,
    send: (name) => void ticks.set(name, [...(ticks.get(name) ?? []), (Date.now() - started) / 1000]),
  });
  vi.advanceTimersByTime(MINUTES * 60_000);
  stop();
  vi.advanceTimersByTime(MINUTES * 60_000);
  return ticks;
}

it("functions tick one after the other, so that one thread can run them all, the sweep first and soon", () => {
  const ticks = ticksOf();
  expect(ticks.get("sweep")?.[0]).toBe(2);
  const seconds = [...ticks.values()].flat().sort((a, b) => a - b);
  const apart = seconds.slice(1).map((each, at) => each - (seconds[at] as number));
  expect(Math.min(...apart)).toBeGreaterThanOrEqual(4);
});

it("each ticks as often as its schedule says, until it is stopped", () => {
  const ticks = ticksOf();
  for (const { name, schedules = [] } of TOPOLOGY.functions) {
    for (const { everyMinutes } of schedules) {
      const seconds = ticks.get(name) ?? [];
      // those of longer intervals tick once in this time, soon after the start
      expect(seconds).toHaveLength(Math.ceil(MINUTES / everyMinutes));
      const apart = seconds.slice(1).map((each, at) => each - (seconds[at] as number));
      expect(apart).toEqual(apart.map(() => everyMinutes * 60));
    }
  }
});

it("a tick is left out while the one before waits", () => {
  expect(ticksOf((name) => (name === "sweep" ? 1 : 0)).get("sweep")).toBeUndefined();
});
