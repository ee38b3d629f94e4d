import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claimShape } from "../../../../shared/crawl/frontier/claim-limits.ts";
import { type Place, priorityOf } from "../../../../shared/crawl/frontier/order.ts";
import { STRATEGIES, type Strategy } from "../../../../shared/crawl/settings/job-settings.ts";
import type { Scope } from "../../../../shared/crawl/urls/scope.ts";

const place = fc.record<Place>({
  depth: fc.nat({ max: 1000 }),
  ordinal: fc.nat({ max: 2 ** 31 - 1 }),
  page: fc.nat({ max: 2 ** 31 - 1 }),
  position: fc.nat({ max: 2 ** 20 - 1 }),
  score: fc.nat({ max: 1000 }).map((thousandths) => thousandths / 1000),
});

/** The order that a strategy promises, as a comparison. */
const PROMISED: Record<Strategy, (a: Place, b: Place) => number> = {
  bfs: (a, b) => a.depth - b.depth || a.ordinal - b.ordinal,
  dfs: (a, b) => b.page - a.page || a.position - b.position,
  best_first: (a, b) => b.score - a.score || a.ordinal - b.ordinal,
};

test.each(STRATEGIES)("the priority keeps the order of %s exactly", (strategy) => {
  fc.assert(
    fc.property(place, place, (a, b) => {
      const difference = priorityOf(strategy, a) - priorityOf(strategy, b);
      expect(Math.sign(difference)).toBe(Math.sign(PROMISED[strategy](a, b)));
    }),
  );
});

describe("the requests of a job at once", () => {
  const scopes: Scope[] = (["any", "host", "domain", "prefix"] as const).map((mode) => ({
    mode,
    roots: ["a.example"],
    include: [],
    exclude: [],
  }));

  test("never exceed its concurrency, and some are always allowed", () => {
    const job = fc.record({
      kind: fc.constantFrom("site" as const, "pages" as const),
      settings: fc.record({
        strategy: fc.constantFrom(...STRATEGIES),
        concurrency: fc.integer({ min: 1, max: 1000 }),
        scope: fc.constantFrom(...scopes),
        seeds: fc.array(fc.webUrl(), { minLength: 1, maxLength: 2 }),
      }),
    });
    fc.assert(
      fc.property(job, (job) => {
        const { tasks, workers, urlsPerTask } = claimShape(job);
        expect(tasks * (workers ?? Number.NaN)).toBeLessThanOrEqual(job.settings.concurrency);
        expect(Math.min(tasks, workers ?? 0, urlsPerTask)).toBeGreaterThanOrEqual(1);
      }),
    );
  });
});
