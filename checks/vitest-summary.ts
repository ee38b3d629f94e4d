/**
 * `node checks/vitest-summary.ts FILE`: reads vitest's JSON report and prints `vitest: N passed, N failed` on a line of
 * its own. A test that was skipped, a file that did not load and a missing report count as failed. Exits with 1 then.
 */
import { readFile } from "node:fs/promises";

interface Report {
  success: boolean;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

/** Counts the tests of a report; a missing one counts as one failure. */
export function summarize(report: Report | undefined): { passed: number; failed: number } {
  if (report === undefined) return { passed: 0, failed: 1 };
  const statuses = report.testResults.flatMap(({ status, assertionResults }) => {
    const own = assertionResults.map((each) => each.status);
    return status === "passed" || own.some((each) => each !== "passed") ? own : [...own, status];
  });
  const passed = statuses.filter((status) => status === "passed").length;
  const failed = statuses.length - passed;
  // an error outside of any test (an unhandled rejection, a setup that threw) fails the run and no test
  const silentFailure = failed === 0 && (!report.success || passed === 0);
  return { passed, failed: silentFailure ? 1 : failed };
}

async function main(file: string): Promise<void> {
  let report: Report | undefined;
  try {
    report = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    process.stderr.write(`no report of the tests: ${error instanceof Error ? error.message : error}\n`);
  }
  const { passed, failed } = summarize(report);
  process.stdout.write(`vitest: ${passed} passed, ${failed} failed\n`);
  if (failed > 0) process.exitCode = 1;
}

if (import.meta.main) await main(process.argv[2] ?? "");
