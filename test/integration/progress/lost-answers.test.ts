/** A table whose answers get lost on their way: the SDK asks again, and meets what it has written itself. */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { progressHarness } from "./harness.ts";

/** Loses the answer to the first sending of each update. @returns how many were lost so far */
function loseAnswers(dynamo: DynamoDBDocumentClient): () => number {
  const seen = new Set<string>();
  dynamo.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const input = JSON.stringify(args.input);
        if (commandName !== "UpdateItemCommand" || seen.has(input)) return result;
        seen.add(input);
        throw Object.assign(new Error("the connection was cut"), { name: "TimeoutError" });
      },
    { step: "deserialize", priority: "high", name: "lost answers" },
  );
  return () => seen.size;
}

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
  // a turn and a delivery of each step, and the last word
  expect(lost()).toBeGreaterThanOrEqual(7);
});
