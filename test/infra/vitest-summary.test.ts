import { expect, test } from "vitest";
import { joinRuns, listFailures, listFilesToRunAgain, summarize } from "../../checks/vitest-summary.ts";

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((each) => ({ status: each })),
});

test("counts what passed and what failed", () => {
  const testResults = [file("passed", "passed", "passed"), file("failed", "passed", "failed")];
  expect(summarize([{ success: false, testResults }])).toEqual({ passed: 3, failed: 1 });
});

test("a skipped and a todo test count as failed", () => {
  const testResults = [file("passed", "passed", "skipped"), file("passed", "todo", "pending")];
  expect(summarize([{ success: true, testResults }])).toEqual({ passed: 1, failed: 3 });
});

test("a file that does not load counts as failed", () => {
  expect(summarize([{ success: false, testResults: [file("passed", "passed"), file("failed")] }])).toEqual({
    passed: 1,
    failed: 1,
  });
});

test("an error outside of any test counts as failed", () => {
  expect(summarize([{ success: false, testResults: [file("passed", "passed")] }])).toEqual({ passed: 1, failed: 1 });
});

test("no tests at all, and no report, count as failed", () => {
  for (const reports of [[], [undefined], [{ success: true, testResults: [] }]]) {
    expect(summarize(reports)).toEqual({ passed: 0, failed: 1 });
  }
});

test("several runs are counted together, and each must have run tests", () => {
  const run = (...tests: string[]) => ({ success: true, testResults: [file("passed", ...tests)] });
  expect(summarize([run("passed", "passed"), run("passed")])).toEqual({ passed: 3, failed: 0 });
  expect(summarize([run("passed", "passed"), run("passed", "skipped")])).toEqual({ passed: 3, failed: 1 });
  expect(summarize([run("passed", "passed"), { success: true, testResults: [] }])).toEqual({ passed: 2, failed: 1 });
  expect(summarize([undefined, run("passed")])).toEqual({ passed: 1, failed: 1 });
});

test("what did not pass is listed with its file and its message", () => {
  const assertionResults = [
    { fullName: "adds", status: "passed", failureMessages: [] },
    {
      fullName: "divides",
      status: "failed",
      failureMessages: ["AssertionError: expected 1 to be 2\n    at sums.ts:3"],
    },
    { fullName: "rounds", status: "skipped" },
  ];
  const testResults = [
    { name: "/t/sums.test.ts", status: "failed", message: "", assertionResults },
    { name: "/t/broken.test.ts", status: "failed", message: "Cannot find module", assertionResults: [] },
  ];
  expect(listFailures([undefined, { success: false, testResults }])).toEqual([
    "failed: divides (/t/sums.test.ts)\nAssertionError: expected 1 to be 2\n    at sums.ts:3",
    "skipped: rounds (/t/sums.test.ts)",
    "failed: /t/broken.test.ts\nCannot find module",
  ]);
  expect(listFailures([{ success: true, testResults: [file("passed", "passed")] }])).toEqual([]);
});

const named = (name: string, ...statuses: string[]) => ({
  name,
  status: statuses.includes("failed") ? "failed" : "passed",
  assertionResults: statuses.map((status, index) => ({ fullName: `${name} ${index}`, status })),
});

test("the few files with a failed test are run again, and many are not", () => {
  const one = [named("a", "passed"), named("b", "passed", "failed"), named("c", "skipped"), file("failed")];
  expect(listFilesToRunAgain({ success: false, testResults: one })).toEqual(["b", "?"]);
  const many = Array.from({ length: 6 }, (_, index) => named(`f${index}`, "failed"));
  expect(listFilesToRunAgain({ success: false, testResults: many })).toEqual([]);
  expect(listFilesToRunAgain(undefined)).toEqual([]);
});

test("a second run of a file counts for it, and what passed only then is unsteady", () => {
  const first = { success: false, testResults: [named("a", "passed"), named("b", "failed", "passed")] };
  const { report, unsteady } = joinRuns(first, { success: true, testResults: [named("b", "passed", "passed")] });
  expect(summarize([report])).toEqual({ passed: 3, failed: 0 });
  expect(unsteady).toEqual(["unsteady: b 0 (b)"]);
});

test("what fails twice, is not run again, or is no test's has failed", () => {
  const first = { success: false, testResults: [named("a", "passed"), named("b", "failed"), named("c", "skipped")] };
  const twice = joinRuns(first, { success: false, testResults: [named("b", "failed")] });
  expect(twice.unsteady).toEqual([]);
  expect(summarize([twice.report])).toEqual({ passed: 1, failed: 2 });
  expect(summarize([joinRuns(first, undefined).report])).toEqual({ passed: 1, failed: 2 });
  expect(summarize([joinRuns(first, { success: true, testResults: [] }).report])).toEqual({ passed: 1, failed: 2 });
  const silent = { success: false, testResults: [named("a", "passed")] };
  expect(summarize([joinRuns(silent, { success: true, testResults: [] }).report])).toEqual({ passed: 1, failed: 1 });
  const fault = { success: false, testResults: [named("b", "passed")] };
  const outside = joinRuns({ success: false, testResults: [named("b", "failed")] }, fault);
  expect(summarize([outside.report])).toEqual({ passed: 1, failed: 1 });
});
