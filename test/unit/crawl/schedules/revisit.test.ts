import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextInterval, type Revisit } from "../../../../shared/crawl/schedules/revisit.ts";

const bounds = fc
  .tuple(fc.integer({ min: 1, max: 8760 }), fc.integer({ min: 1, max: 8760 }))
  .map(([one, other]): Revisit => ({ shortest_hours: Math.min(one, other), longest_hours: Math.max(one, other) }));
const found = fc.constantFrom("change" as const, "none" as const, null);
const hours = fc.double({ min: 0.01, max: 20_000, noNaN: true });

/** After as many visits that all find the same. */
function intervalAfter(visits: number, of: Revisit, start: number | null, what: "change" | "none"): number {
  let interval = nextInterval(of, start, null);
  for (let visit = 0; visit < visits; visit++) interval = nextInterval(of, interval, what);
  return interval;
}

describe("the interval between visits", () => {
  it("stays within its bounds, whatever is found", () => {
    fc.assert(
      fc.property(bounds, fc.option(hours), fc.array(found, { maxLength: 40 }), (of, start, all) => {
        let interval = start;
        for (const each of all) {
          interval = nextInterval(of, interval, each);
          expect(interval).toBeGreaterThanOrEqual(of.shortest_hours);
          expect(interval).toBeLessThanOrEqual(of.longest_hours);
        }
      }),
    );
  });

  it("never grows after a change, and never shrinks where there was none", () => {
    fc.assert(
      fc.property(bounds, hours, (of, start) => {
        const before = nextInterval(of, start, null);
        expect(nextInterval(of, before, "change")).toBeLessThanOrEqual(before);
        expect(nextInterval(of, before, "none")).toBeGreaterThanOrEqual(before);
        expect(nextInterval(of, before, null)).toBe(before);
      }),
    );
  });

  it("is longer where it was longer before", () => {
    fc.assert(
      fc.property(bounds, hours, hours, found, (of, one, other, what) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        expect(nextInterval(of, less, what)).toBeLessThanOrEqual(nextInterval(of, more, what));
      }),
    );
  });

  it("comes to its shortest where pages always change, and to its longest where they never do", () => {
    fc.assert(
      fc.property(bounds, fc.option(hours), (of, start) => {
        const ratio = of.longest_hours / of.shortest_hours;
        expect(intervalAfter(Math.ceil(Math.log2(ratio)), of, start, "change")).toBe(of.shortest_hours);
        const growing = Math.ceil(Math.log(ratio) / Math.log(1.5));
        expect(intervalAfter(growing, of, start, "none")).toBeCloseTo(of.longest_hours, 6);
      }),
    );
  });

  it("begins with the shortest", () => {
    fc.assert(
      fc.property(bounds, (of) => {
        expect(nextInterval(of, null, null)).toBe(of.shortest_hours);
      }),
    );
  });
});
