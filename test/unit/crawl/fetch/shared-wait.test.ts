import { expect, test } from "vitest";
import { waitsLong } from "../../../../shared/crawl/fetch/shared-wait.ts";
import { firstQueueOf } from "../../../../shared/crawl/tasks/fetch-task.ts";

const worker = { settings: { defaultRps: 1 }, clock: { now: () => 100_000 } } as Parameters<typeof waitsLong>[2];

function waits(
  urls: number,
  rps: number | undefined,
  deadline: number | null = null,
  receiveCount = 1,
  leftMs = 300_000,
): boolean {
  const task = { urls: Array(urls).fill({}), config: { rate_limit_rps: rps }, deadline };
  return waitsLong(task as Parameters<typeof waitsLong>[0], { receiveCount, remainingMs: () => leftMs }, worker);
}

test("tasks of slow hosts share a worker, where there is something to wait for", () => {
  expect(waits(50, undefined)).toBe(true);
  expect(waits(2, 0.1)).toBe(true);
  // a seed, a fast host, a job that ends soon, what may have been handed over before, a worker that is to end
  expect(waits(1, undefined)).toBe(false);
  expect(waits(50, 5)).toBe(false);
  expect(waits(50, undefined, 102_000)).toBe(false);
  expect(waits(50, undefined, null, 2)).toBe(false);
  expect(waits(50, undefined, null, 1, 100_000)).toBe(false);
});

test("what was shared came by the queue of its priority first", () => {
  expect(firstQueueOf("captures", "{}")).toBe("captures");
  expect(firstQueueOf("fetch-shared", JSON.stringify({ priority: "high", jobId: "1" }))).toBe("fetch-high");
  expect(firstQueueOf("fetch-shared", "{not json")).toBe("fetch-normal");
});
