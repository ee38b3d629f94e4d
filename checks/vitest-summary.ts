/**
 * `node checks/vitest-summary.ts FILE...`: reads vitest's JSON report of each run and prints
 * `vitest: N passed, N failed` of all of them on a line of its own. A test that was skipped, a file that did not load,
 * a missing report and a run in which no test passed count as failed. Exits with 1 then.
 */
import { readFile } from "node:fs/promises";

interface Report {
  success: boolean;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

interface Summary {
  passed: number;
  failed: number;
}

/** @param reports one for each run; undefined where it left none */
export function summarize(reports: readonly (Report | undefined)[]): Summary {
  const runs = reports.map(summarizeRun);
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const failed = runs.reduce((sum, run) => sum + run.failed, 0);
  return { passed, failed: reports.length === 0 ? 1 : failed };
}

function summarizeRun(report: Report | undefined): Summary {
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

async function readReport(file: string): Promise<Report | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    process.stderr.write(`no report of the tests: ${error instanceof Error ? error.message : error}\n`);
    return undefined;
  }
}

async function main(files: readonly string[]): Promise<void> {
  const { passed, failed } = summarize(await Promise.all(files.map(readReport)));
  process.stdout.write(`vitest: ${passed} passed, ${failed} failed\n`);
  if (failed > 0) process.exitCode = 1;
}

if (import.meta.main) await main(process.argv.slice(2));
