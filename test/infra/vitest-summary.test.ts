import { expect, test } from "vitest";
import { summarize } from "../../checks/vitest-summary.ts";

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((each) => ({ status: each })),
});

test("counts what passed and what failed", () => {
  const testResults = [file("passed", "passed", "passed"), file("failed", "passed", "failed")];
  expect(summarize({ success: false, testResults })).toEqual({ passed: 3, failed: 1 });
});

test("a skipped and a todo test count as failed", () => {
  const testResults = [file("passed", "passed", "skipped"), file("passed", "todo", "pending")];
  expect(summarize({ success: true, testResults })).toEqual({ passed: 1, failed: 3 });
});

test("a file that does not load counts as failed", () => {
  expect(summarize({ success: false, testResults: [file("passed", "passed"), file("failed")] })).toEqual({
    passed: 1,
    failed: 1,
  });
});

test("an error outside of any test counts as failed", () => {
  expect(summarize({ success: false, testResults: [file("passed", "passed")] })).toEqual({ passed: 1, failed: 1 });
});

test("no tests at all, and no report, count as failed", () => {
  expect(summarize({ success: true, testResults: [] })).toEqual({ passed: 0, failed: 1 });
  expect(summarize(undefined)).toEqual({ passed: 0, failed: 1 });
});
