/** A table whose answers get lost on their way: the SDK asks again, and meets what it has written itself. */
import { expect, test } from "vitest";
import { loseAnswers } from "../../services/lost-answers.ts";
import { progressHarness } from "./harness.ts";

test("a watch goes on at once, and a listener is told each change and the end once", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job(10);
  const listener = await harness.listen(jobId);
  const lost = loseAnswers(harness.aws.dynamo);
  let next = await harness.step({ jobId });
  await harness.crawled(jobId, 4);
  next = await harness.step(next);
  await harness.end(jobId);
  await harness.step(next);
  expect(harness.heard(listener).map(({ type, data }) => [type, data.counts.crawled])).toEqual([
    ["progress", 0],
    ["progress", 4],
    ["completed", 4],
  ]);
  expect(harness.closed.has(listener)).toBe(true);
  // a round and a delivery of each step, and the terminal event
  expect(lost()).toBeGreaterThanOrEqual(7);
});
