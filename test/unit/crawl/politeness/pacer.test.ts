import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { paceOf } from "../../../../shared/crawl/politeness/pace.ts";
import { createPacer } from "../../../../shared/crawl/politeness/pacer.ts";
import type { Clock } from "../../../../shared/platform/clock.ts";

/** Time that passes only when someone sleeps. */
function fakeClock(): Clock {
  let now = 1_000_000;
  return {
    now: () => now,
    sleep: async (ms) => {
      now += ms;
    },
  };
}

describe("the pace of a host", () => {
  it("is the slowest of what job, domain and robots.txt want", () => {
    expect(paceOf(10, undefined, undefined).intervalMs).toBeCloseTo(105);
    expect(paceOf(10, 2, undefined).intervalMs).toBeCloseTo(525);
    expect(paceOf(2, 10, undefined).intervalMs).toBeCloseTo(525);
    expect(paceOf(10, undefined, 3000)).toMatchObject({ burst: 1, windowMs: 3000 });
    expect(paceOf(10, undefined, 0)).toEqual(paceOf(10, undefined, undefined));
    expect(paceOf(1.9, undefined, undefined)).toMatchObject({ burst: 1, windowMs: 1000 / 1.9 });
    expect(paceOf(2.5, undefined, undefined)).toMatchObject({ burst: 2, windowMs: 800 });
    expect(paceOf(0.1, undefined, 3000).windowMs).toBe(10_000);
  });

  it("is not slower than a request in two minutes, whatever robots.txt wants", () => {
    expect(paceOf(1, undefined, 86_400_000).windowMs).toBe(120_000);
  });

  it("leaves room for slots that are used late: no second sees more than the rate, rounded up", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.05, max: 10_000, noNaN: true }), (rps) => {
        const { intervalMs, graceMs } = paceOf(rps, undefined, undefined);
        // and the rate itself is kept to within the allowance for lateness
        expect(1000 / intervalMs / rps).toBeGreaterThan(rps >= 500 ? 0.66 : 0.95);
        // slots of a second and the grace of the first of them
        expect(Math.ceil((1000 + graceMs) / intervalMs - 1e-9)).toBeLessThanOrEqual(Math.ceil(rps));
      }),
    );
  });
});

describe("the pacer", () => {
  it("never lets more than the rate leave in any second, however unevenly they leave", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 30, maxLength: 60 }),
        async (rps, delays) => {
          const clock = fakeClock();
          const pacer = createPacer(clock);
          const sent: number[] = [];
          for (const delay of delays) {
            const admission = await pacer.admit(paceOf(rps, undefined, undefined), new AbortController().signal);
            await clock.sleep(delay / rps);
            admission.sent();
            sent.push(clock.now());
          }
          for (const [index, at] of sent.entries()) {
            const next = sent[index + rps];
            if (next !== undefined) expect(next - at).toBeGreaterThanOrEqual(1000 - 1e-6);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it("waits for a request that is on its way out before it counts on it", async () => {
    const clock = fakeClock();
    const pacer = createPacer(clock);
    const { signal } = new AbortController();
    const pace = paceOf(1, undefined, undefined);
    const first = await pacer.admit(pace, signal);
    let second = false;
    const waiting = pacer.admit(pace, signal).then(() => {
      second = true;
    });
    await Promise.resolve();
    expect(second).toBe(false);
    first.sent();
    await waiting;
    expect(clock.now()).toBe(1_001_000);
  });

  it("does not count a request that stayed after all", async () => {
    const clock = fakeClock();
    const pacer = createPacer(clock);
    const { signal } = new AbortController();
    const pace = paceOf(1, undefined, undefined);
    const first = await pacer.admit(pace, signal);
    first.sent();
    await clock.sleep(1_000);
    const second = await pacer.admit(pace, signal);
    const third = pacer.admit(pace, signal);
    second.withdrawn();
    (await third).sent();
    expect(clock.now()).toBe(1_001_000);
    await pacer.admit(pace, signal);
    expect(clock.now()).toBe(1_002_000);
  });

  it("stops waiting when the task stops", async () => {
    const pacer = createPacer(fakeClock());
    const halt = new AbortController();
    await pacer.admit(paceOf(1, undefined, undefined), halt.signal);
    const waiting = pacer.admit(paceOf(1, undefined, undefined), halt.signal);
    halt.abort(new Error("stopped"));
    await expect(waiting).rejects.toThrow("stopped");
  });
});
