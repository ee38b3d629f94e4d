/**
 * `node checks/vitest-summary.ts FILE...`: reads vitest's JSON report of each run and prints each test that did not
 * pass with its messages, then `vitest: N passed, N failed` of all runs on a line of its own. A test that was skipped,
 * a file that did not load, a missing report and a run in which no test passed count as failed. Exits with 1 then.
 */
import { readFile } from "node:fs/promises";

interface Report {
  success: boolean;
  testResults: TestFile[];
}

interface TestFile {
  /** path */
  name?: string;
  status: string;
  /** why the file did not load */
  message?: string;
  assertionResults: { fullName?: string; status: string; failureMessages?: string[] | null }[];
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

/** What did not pass, an entry each: status, test and file, then its messages with the first lines of their stacks. */
export function listFailures(reports: readonly (Report | undefined)[]): string[] {
  return reports.flatMap((report) => (report?.testResults ?? []).flatMap(listFailuresOfFile));
}

function listFailuresOfFile({ name = "?", status, message, assertionResults }: TestFile): string[] {
  const tests = assertionResults
    .filter((each) => each.status !== "passed")
    .map((each) =>
      [`${each.status}: ${each.fullName ?? "?"} (${name})`, ...(each.failureMessages ?? []).map(shorten)].join("\n"),
    );
  return status === "passed" || tests.length > 0 ? tests : [`${status}: ${name}\n${shorten(message ?? "")}`];
}

function shorten(message: string): string {
  return message.split("\n", 12).join("\n").slice(0, 2_000);
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
  const reports = await Promise.all(files.map(readReport));
  const { passed, failed } = summarize(reports);
  for (const failure of listFailures(reports)) process.stdout.write(`${failure}\n\n`);
  process.stdout.write(`vitest: ${passed} passed, ${failed} failed\n`);
  if (failed > 0) process.exitCode = 1;
}

if (import.meta.main) await main(process.argv.slice(2));
