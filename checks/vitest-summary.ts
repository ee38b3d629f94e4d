/**
 * `node checks/vitest-summary.ts FILE...`: reads vitest's JSON report of each run and prints each test that did not
 * pass with its messages, then `vitest: N passed, N failed` of all runs on a line of its own. A test that was skipped,
 * a file that did not load, a missing report and a run in which no test passed count as failed. Exits with 1 then.
 * Where `FILE.again` is the report of a second run of the files that failed, its results count for these, and a test
 * that passed only there is printed as unsteady.
 *
 * `node checks/vitest-summary.ts --failed FILE`: prints the files to run again, a line each: those with a test that
 * failed, or none where they are so many that it is not the machine's load.
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

/** The most files that are run again. */
const MOST_AGAIN = 5;

/** @returns paths of the files in which something failed; none where there are too many of them */
export function listFilesToRunAgain(report: Report | undefined): string[] {
  const failed = (report?.testResults ?? []).filter(hasFailed).map(({ name = "?" }) => name);
  return failed.length > MOST_AGAIN ? [] : failed;
}

function hasFailed({ status, assertionResults }: TestFile): boolean {
  return status === "failed" || assertionResults.some((each) => each.status === "failed");
}

/**
 * @param again of the files that failed in the first run
 * @returns what counts of both, and the tests that failed at first and passed then
 */
export function joinRuns(
  first: Report | undefined,
  again: Report | undefined,
): { report: Report | undefined; unsteady: string[] } {
  if (first === undefined || again === undefined) return { report: first, unsteady: [] };
  const second = new Map(again.testResults.map((file) => [file.name, file]));
  const unsteady: string[] = [];
  const testResults = first.testResults.map((file) => {
    const later = hasFailed(file) ? second.get(file.name) : undefined;
    if (later === undefined) return file;
    const passed = new Set(later.assertionResults.filter(hasPassed).map(({ fullName }) => fullName));
    const steadied = file.assertionResults.filter((each) => !hasPassed(each) && passed.has(each.fullName));
    unsteady.push(...steadied.map((each) => describeTest("unsteady", each, file.name)));
    return later;
  });
  const success = first.testResults.some(hasFailed) && again.success && !testResults.some(hasFailed);
  return { report: { success: first.success || success, testResults }, unsteady };
}

const hasPassed = ({ status }: { status: string }): boolean => status === "passed";

/** What did not pass, an entry each: status, test and file, then its messages with the first lines of their stacks. */
export function listFailures(reports: readonly (Report | undefined)[]): string[] {
  return reports.flatMap((report) => (report?.testResults ?? []).flatMap(listFailuresOfFile));
}

function listFailuresOfFile({ name = "?", status, message, assertionResults }: TestFile): string[] {
  const tests = assertionResults
    .filter((each) => each.status !== "passed")
    .map((each) => describeTest(each.status, each, name));
  return status === "passed" || tests.length > 0 ? tests : [`${status}: ${name}\n${shorten(message ?? "")}`];
}

function describeTest(
  what: string,
  { fullName = "?", failureMessages }: TestFile["assertionResults"][number],
  file = "?",
): string {
  return [`${what}: ${fullName} (${file})`, ...(failureMessages ?? []).map(shorten)].join("\n");
}

function shorten(message: string): string {
  return message.split("\n", 12).join("\n").slice(0, 2_000);
}

/** @param optional whether it is no fault that there is none */
async function readReport(file: string, optional = false): Promise<Report | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if (!optional) process.stderr.write(`no report of the tests: ${error instanceof Error ? error.message : error}\n`);
    return undefined;
  }
}

async function main(args: readonly string[]): Promise<void> {
  if (args[0] === "--failed") {
    for (const file of listFilesToRunAgain(await readReport(args[1] ?? "", true))) process.stdout.write(`${file}\n`);
    return;
  }
  const reports: (Report | undefined)[] = [];
  for (const file of args) {
    const { report, unsteady } = joinRuns(await readReport(file), await readReport(`${file}.again`, true));
    for (const test of unsteady) process.stdout.write(`${test}\n\n`);
    reports.push(report);
  }
  const { passed, failed } = summarize(reports);
  for (const failure of listFailures(reports)) process.stdout.write(`${failure}\n\n`);
  process.stdout.write(`vitest: ${passed} passed, ${failed} failed\n`);
  if (failed > 0) process.exitCode = 1;
}

if (import.meta.main) await main(process.argv.slice(2));
