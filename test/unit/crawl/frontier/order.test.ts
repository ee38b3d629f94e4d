import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claimShape, shareRequests, tasksWorth } from "../../../../shared/crawl/frontier/claim-limits.ts";
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

  test("are as many as its concurrency allows tasks on one host to hold, and always some", () => {
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
        const { tasks, tasksPerHost, requests, urlsPerTask } = claimShape(job);
        expect(requests).toBe(job.settings.concurrency);
        expect(tasksPerHost * urlsPerTask).toBeGreaterThanOrEqual(job.settings.concurrency);
        expect(tasks).toBeLessThanOrEqual(job.settings.concurrency);
        expect(Math.min(tasks, urlsPerTask)).toBeGreaterThanOrEqual(1);
      }),
    );
  });

  test("are shared out whole, to no task more than it has URLs, and to the first where there are too few", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 30 });
    fc.assert(
      fc.property(sizes, fc.nat(200), (sizes, requests) => {
        const shares = shareRequests(sizes, requests);
        const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
        expect(sum(shares)).toBe(Math.min(requests, sum(sizes)));
        expect(shares).toHaveLength(Math.min(requests, sizes.length));
        for (const [index, share] of shares.entries()) {
          expect(share).toBeGreaterThanOrEqual(1);
          expect(share).toBeLessThanOrEqual(sizes[index] ?? 0);
        }
      }),
    );
    expect(shareRequests([20, 20, 1], 10)).toEqual([5, 4, 1]);
  });

  test.for([
    [40, 2, null, 2],
    [8, 2, null, 1],
    [100, 2, null, 2],
    [40, 2, 10, 2],
    [40, 2, 1, 1],
    [1, 2, 10, 1],
  ] as const)("%i URLs are worth tasks: of %i, with %s requests, %i", ([urls, tasks, requests, expected]) => {
    expect(tasksWorth(urls, tasks, requests, 50)).toBe(expected);
  });
});
