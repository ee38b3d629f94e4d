/**
 * `npm run demo`: starts the system on this machine, serves the handbook in `demo/site`, crawls it through the HTTP
 * API, and asks it three questions. With `--exit` it stops afterwards; the exit code is 0 where everything held that it
 * shows.
 */
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { S3Client } from "@aws-sdk/client-s3";
import { createApiClient } from "../cli/api-client.ts";
import { CliError } from "../cli/exit.ts";
import { createTerminal, type Terminal } from "../cli/terminal.ts";
import { objectFile } from "../local/aws/fauxqs-state.ts";
import { credentialsIn } from "../local/front/credentials.ts";
import { AlreadyRunning, UnusableHome } from "../local/home.ts";
import type { Runtime } from "../local/runtime.ts";
import { readArchive } from "./archive.ts";
import { askQuestions } from "./ask.ts";
import { crawlSite } from "./crawl-site.ts";
import { DemoError } from "./demo-error.ts";
import { findFaults } from "./faults.ts";
import { heading, reportAnswers, reportArchive, reportCrawl, reportNextSteps } from "./report.ts";
import { type SiteServer, sitePaths } from "./site-server.ts";
import { startSystem } from "./system.ts";

const USAGE = `Usage: npm run demo [-- --exit], or: strandline demo [--exit]

Starts the system, crawls a small site that comes along, and asks it three questions.
  --exit   stop afterwards; the exit code is 0 where everything held
PORT and STRANDLINE_HOME are as for \`npm start\`.`;

/** @returns what should hold and does not */
async function demonstrate(terminal: Terminal, runtime: Runtime, site: SiteServer, home: string): Promise<string[]> {
  const api = createApiClient({ url: runtime.url, apiKey: runtime.apiKey ?? "" });
  heading(terminal, `Crawling ${site.origin}/, a handbook that comes with the repository`);
  const crawl = await crawlSite(api, terminal, site.origin);
  reportCrawl(terminal, site.origin, crawl);

  const bucket = runtime.env["STORAGE__BUCKET"] ?? "";
  const days = new Set(crawl.urls.flatMap(({ fetched_at }) => fetched_at?.slice(0, 10) ?? []));
  const archive = await readArchive(s3Of(runtime), bucket, crawl.job.job_id, days);
  reportArchive(terminal, archive, (key) => {
    const file = objectFile(join(home, "aws", "objects"), bucket, key);
    return existsSync(file) ? shortPath(file) : `s3://${bucket}/${key}`;
  });

  const answers = await askQuestions(api, site.host);
  reportAnswers(terminal, answers);
  const pages = await sitePaths();
  return findFaults({ origin: site.origin, pages, requests: site.requests, crawl, archive, answers });
}

function shortPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith("..") ? resolve(file) : path;
}

function s3Of({ addresses, env }: Runtime): S3Client {
  const credentials = credentialsIn(env);
  return new S3Client({ endpoint: addresses.s3, forcePathStyle: true, region: env["AWS_REGION"] ?? "", credentials });
}

function readArguments(): { exit: boolean; help: boolean } {
  try {
    const options = {
      exit: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    throw new DemoError(error instanceof Error ? error.message : String(error), USAGE);
  }
}

function explain(error: unknown): string {
  if (error instanceof AlreadyRunning || error instanceof UnusableHome) return error.message;
  if (error instanceof DemoError || error instanceof CliError)
    return `${error.message}\n  ${error.hint ?? ""}`.trimEnd();
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Resolves at Ctrl-C or a request to end. */
const interrupted = new Promise<"interrupted">((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    let seen = false;
    process.on(signal, () => {
      // the second time they mean it; Postgres ends by itself once we are gone
      if (seen) process.exit(130);
      seen = true;
      resolve("interrupted");
    });
  }
});

async function main(): Promise<number> {
  const terminal = createTerminal(process.stdout, process.env);
  const { exit, help } = readArguments();
  if (help) {
    terminal.line(USAGE);
    return 0;
  }
  const home = process.env["STRANDLINE_HOME"] || ".strandline";
  const started = performance.now();
  terminal.line(terminal.bold("Starting Strandline on this machine …"));
  await using system = await startSystem(terminal, home);
  const { runtime, site } = system;
  terminal.line(`  started in ${((performance.now() - started) / 1000).toFixed(1)} s; state is kept in ${home}`);

  const outcome = await Promise.race([demonstrate(terminal, runtime, site, home), interrupted]);
  if (outcome === "interrupted") {
    terminal.line("\nStopping …");
    return 130;
  }
  for (const fault of outcome) terminal.line(`FAULT  ${fault}`);
  if (outcome.length > 0) {
    terminal.line(
      `\n${outcome.length} of the demonstration's checks failed. ${home}/logs/handlers.jsonl tells more; with`,
    );
    terminal.line("an unchanged clone this is a fault of Strandline: please report it with these lines.");
  } else {
    terminal.line(`\nEverything held, after ${((performance.now() - started) / 1000).toFixed(0)} s.`);
  }
  if (exit) return outcome.length === 0 ? 0 : 1;
  reportNextSteps(terminal, runtime.url, runtime.apiKey ?? "");
  await interrupted;
  terminal.line("\nStopping …");
  return outcome.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`\ndemo: ${explain(error)}\n`);
  process.exitCode = 1;
}
