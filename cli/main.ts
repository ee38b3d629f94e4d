/**
 * The command line. It talks to the HTTP API only; `start`, `demo`, `backup` and `restore` run the programs of those
 * names.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { type ApiClient, ApiFailure, createApiClient } from "./api-client.ts";
import { addArchiveCommands } from "./archive-commands.ts";
import type { Around } from "./around.ts";
import { addCollectionCommands } from "./collection-commands.ts";
import { type CrawlOptions, crawl } from "./commands/crawl.ts";
import { verifyDataset } from "./commands/dataset.ts";
import { type DiscoverOptions, discover } from "./commands/discover.ts";
import { addExclusion, listExclusions, type NewExclusionOptions, revokeExclusion } from "./commands/exclusions.ts";
import { cancelJob, listJobs, type ResultsOptions, retryJob, showJob, showResults } from "./commands/jobs.ts";
import {
  createKey,
  type KeyLimits,
  limitKey,
  listKeys,
  type NewKeyOptions,
  revokeKey,
  showUsage,
  type UsageOptions,
} from "./commands/keys.ts";
import { serveMcp } from "./commands/mcp.ts";
import { runProgram } from "./commands/run.ts";
import { type ScrapeOptions, scrape } from "./commands/scrape.ts";
import { SEARCH_MODES, type SearchOptions, search } from "./commands/search.ts";
import { type ConnectionFlags, findConnection } from "./connection.ts";
import { addDocumentCommands } from "./document-commands.ts";
import { addEditionCommands } from "./edition-commands.ts";
import { CliError, EXIT } from "./exit.ts";
import { addMonitoringCommands } from "./monitoring-commands.ts";
import { addSearchOptions } from "./search-fields.ts";
import { createTerminal, steerless } from "./terminal.ts";

const terminal = createTerminal(process.stdout, process.env);
let exitCode: number = EXIT.done;

// whoever read along has left, as `| head` does: nothing is to be said any more
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(EXIT.done);
});

/** Runs a command of the API with a client for the connection that the flags and the environment name. */
async function withApi(command: Command, run: (api: ApiClient) => Promise<number>): Promise<void> {
  const flags = command.optsWithGlobals<ConnectionFlags & { json?: true }>();
  try {
    exitCode = await run(createApiClient(await findConnection(flags, process.env, process.cwd())));
  } catch (error) {
    if (flags.json && error instanceof ApiFailure) terminal.line(JSON.stringify(error.body, null, 2));
    throw error;
  }
}

const positive = (text: string): number => {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
};
const share = (text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError("It must be a number from 0 to 1.");
  return value;
};
const count = (text: string): number => {
  if (!/^[0-9]+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
};
const repeated = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text];
const json = () => new Option("--json", "print the API's answer, that to a refused request included");
const limit = (value: number) => new Option("--limit <n>", "entries to show").argParser(count).default(value);

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")) as {
  version: string;
};

const program = new Command("strandline")
  .description("Crawl web sites politely, keep every page as a WARC capture, and search them")
  .version(version, "--version", "print the version")
  .option("--url <address>", "the API's address (STRANDLINE_URL, or that of the last local start)")
  .option("--api-key <key>", "the API key (STRANDLINE_API_KEY, or that of the last local start)")
  .addHelpText(
    "after",
    "\nExit codes: 0 done, 1 the request or the job failed, 2 wrong usage, " +
      "3 the API does not answer, 4 no valid API key",
  )
  .showHelpAfterError("(see --help)")
  .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage));

for (const [name, about] of [
  ["start", "run everything on this machine"],
  ["demo", "crawl a small site that comes along, and ask it three questions"],
  ["backup", "write everything to a folder or s3://bucket/prefix (see backup --help)"],
  ["restore", "make everything of a back-up again, where there is nothing yet (see restore --help)"],
] as const) {
  program
    .command(name)
    .description(about)
    .argument("[arguments...]")
    .allowUnknownOption()
    .helpOption(false)
    .action(async (args: string[]) => {
      exitCode = await runProgram(name, args);
    });
}

program
  .command("crawl")
  .description("crawl pages, or with any option that speaks of a site the sites that begin there")
  .argument("<url...>")
  .option("--depth <n>", "site: follow links this deep", count)
  .option("--max-pages <n>", "site: fetch at most this many pages", count)
  .addOption(new Option("--scope <scope>", "site: where links may lead").choices(["host", "domain", "prefix"]))
  .addOption(new Option("--strategy <name>", "site: order of pages").choices(["bfs", "dfs", "best_first"]))
  .option("--keywords <words>", "site: what best_first looks for, separated by commas")
  .option("--score-threshold <n>", "site: best_first follows no link that scores less (0 to 1)", share)
  .option("--include <pattern>", "site: follow only URLs that match (RE2; may be repeated)", repeated)
  .option("--exclude <pattern>", "site: follow no URL that matches (RE2; may be repeated)", repeated)
  .option("--timeout <seconds>", "site: end after so long with what is there", positive)
  .option("--max-pages-per-host <n>", "site: fetch at most this many pages of each host", count)
  .option("--concurrency <n>", "requests at once, at the most", count)
  .addOption(new Option("--render <when>", "open pages in a browser").choices(["never", "auto", "always"]))
  .option("--wait-for <selector>", "CSS selector that must appear before a rendered page counts as loaded")
  .option("--rate <n>", "requests a second to each host", positive)
  .option("--no-robots", "ask also for what robots.txt forbids")
  .option("--header <line>", "request header, as in 'Accept-Language: de' (may be repeated)", repeated)
  .option("--language <code>", "make pages in this language searchable; * for all (may be repeated)", repeated)
  .option("--proxy <id>", "proxy config to go through")
  .option("--tag <tag>", "tag of the job (may be repeated)", repeated)
  .addOption(new Option("--priority <level>", "before or after other jobs").choices(["high", "normal", "low"]))
  .addOption(new Option("--cache <use>", "take recent captures instead of requests").choices(["use", "bypass"]))
  .option("--config <file>", "JSON or YAML file with fields of the API's request; options win over it")
  .option("--watch", "follow the crawl until it has ended")
  .addOption(json())
  .action((urls: string[], options: CrawlOptions, command: Command) =>
    withApi(command, (api) => crawl(api, terminal, urls, options)),
  );

program
  .command("scrape")
  .description("print one page: its content, or what else is asked for")
  .argument("<url>")
  .option(
    "--format <name>",
    "markdown, text, html, raw_html, links, metadata, json or screenshot (may be repeated)",
    repeated,
  )
  .option("--config <file>", "JSON or YAML file with fields of the API's request, as config and schema")
  .addOption(json())
  .action((url: string, options: ScrapeOptions, command: Command) =>
    withApi(command, (api) => scrape(api, terminal, url, options)),
  );

addSearchOptions(
  program
    .command("search")
    .description("search what was crawled")
    .argument("<query...>", "a word that begins with a hyphen, such as -draft, is part of it")
    .allowUnknownOption()
    .addOption(new Option("--mode <mode>", "how to search").choices(SEARCH_MODES).default("hybrid")),
)
  .addOption(json())
  .action((words: string[], options: SearchOptions, command: Command) => {
    const unknown = words.find((word) => word.startsWith("--"));
    if (unknown !== undefined && !process.argv.includes("--")) command.error(`error: unknown option '${unknown}'`);
    return withApi(command, (api) => search(api, terminal, words.join(" "), options));
  });

program
  .command("discover")
  .description("list the URLs that the sitemaps and feeds of a site name")
  .argument("<site>")
  .option("--query <words>", "the most relevant first, others left out")
  .option("--pattern <pattern>", "only URLs that match (RE2)")
  .option("--max-urls <n>", "at most this many", count)
  .option("--json", "the API's answers, a line each, instead of their URLs")
  .action((site: string, options: DiscoverOptions, command: Command) =>
    withApi(command, (api) => discover(api, terminal, createTerminal(process.stderr, process.env), site, options)),
  );

const around: Around = { withApi, terminal, json, limit, repeated, count };
addArchiveCommands(program, around);

program
  .command("mcp")
  .description("let language models search, read and crawl: the Model Context Protocol on standard input and output")
  .action((_: object, command: Command) => withApi(command, (api) => serveMcp(api, version)));

addCollectionCommands(program, around);
addDocumentCommands(program, around);
program
  .command("verify-dataset")
  .description("say whether the files of a release are as they were released")
  .argument("<folder>", "that release-dataset wrote")
  .action(async (folder: string) => {
    exitCode = await verifyDataset(terminal, folder);
  });
addEditionCommands(program, around);
addMonitoringCommands(program, around);

const jobs = program.command("jobs").description("list jobs, or see to one of them");
jobs
  .command("list", { isDefault: true })
  .description("the jobs, newest first (also without the word list)")
  .option("--status <status>", "only those in this state")
  .addOption(limit(20))
  .addOption(json())
  .action((options: { status?: string; limit: number; json?: true }, command: Command) =>
    withApi(command, (api) => listJobs(api, terminal, options)),
  );
jobs
  .command("show")
  .description("what became of a job and of its URLs")
  .argument("<job-id>")
  .addOption(limit(20))
  .addOption(json())
  .action((jobId: string, options: { limit: number; json?: true }, command: Command) =>
    withApi(command, (api) => showJob(api, terminal, jobId, options)),
  );
jobs
  .command("results")
  .description("the pages of a job, one line of JSON each; those of a running job as they come")
  .argument("<job-id>")
  .option("--fields <names>", "fields of each page, separated by commas, e.g. title,markdown")
  .option("--limit <n>", "end after so many pages", count)
  .option("--json", "the API's answers, a line each, instead of their pages")
  .action((jobId: string, options: ResultsOptions, command: Command) =>
    withApi(command, (api) => showResults(api, terminal, jobId, options)),
  );
jobs
  .command("retry")
  .description("crawl again what failed in a job that has ended")
  .argument("<job-id>")
  .addOption(json())
  .action((jobId: string, options: { json?: true }, command: Command) =>
    withApi(command, (api) => retryJob(api, terminal, jobId, options)),
  );
jobs
  .command("cancel")
  .description("stop a job; what it has fetched so far stays in the archive")
  .argument("<job-id>")
  .addOption(json())
  .action((jobId: string, options: { json?: true }, command: Command) =>
    withApi(command, (api) => cancelJob(api, terminal, jobId, options)),
  );

const exclusions = program
  .command("exclusions")
  .description("withhold captures from the archive's readers (needs an admin key)");
exclusions
  .command("add")
  .description("withhold captures of a URL, of all below it (https://example.org/a/*) or of a domain (*.example.org)")
  .argument("<url>", "* is the whole archive")
  .addOption(new Option("--match-type <type>", "in place of *").choices(["exact", "prefix", "host", "domain"]))
  .option("--embargo-days <n>", "only captures that are younger", count)
  .option("--reason <text>", "shown to operators alone")
  .addOption(json())
  .action((url: string, options: NewExclusionOptions, command: Command) =>
    withApi(command, (api) => addExclusion(api, terminal, url, options)),
  );
exclusions
  .command("list", { isDefault: true })
  .description("what is withheld, newest first (also without the word list)")
  .addOption(json())
  .action((options: { json?: true }, command: Command) =>
    withApi(command, (api) => listExclusions(api, terminal, options)),
  );
exclusions
  .command("revoke")
  .description("show again what an exclusion withheld")
  .argument("<exclusion-id>")
  .addOption(json())
  .action((id: string, options: { json?: true }, command: Command) =>
    withApi(command, (api) => revokeExclusion(api, terminal, id, options)),
  );

const keys = program.command("keys").description("manage API keys (needs an admin key)");
keys
  .command("create")
  .description("make a key; it is shown once")
  .argument("<name>")
  .addOption(new Option("--scope <scopes...>", "what it may do").choices(["read", "write", "admin"]))
  .option("--collection <ids or names...>", "collections whose documents it may reach, and nothing else")
  .option("--rpm <n>", "requests a minute", count)
  .option("--jobs-per-day <n>", "jobs that it may begin in a day of UTC", count)
  .option("--pages-per-day <n>", "pages that its jobs may fetch in a day of UTC", count)
  .option("--max-stored-bytes <n>", "bytes of captures and uploads that it may store", count)
  .option("--expires <time>", "ISO 8601 time, e.g. 2030-01-31T00:00:00Z")
  .addOption(json())
  .action((name: string, options: NewKeyOptions, command: Command) =>
    withApi(command, (api) => createKey(api, terminal, name, options)),
  );
keys
  .command("list")
  .description("list the keys, revoked ones included")
  .addOption(json())
  .action((options: { json?: true }, command: Command) => withApi(command, (api) => listKeys(api, terminal, options)));
keys
  .command("limit")
  .description("hold a key to collections, from its next request on")
  .argument("<key-id>")
  .option("--collection <ids or names...>", "collections whose documents it may reach, and nothing else")
  .option("--unlimited", "whatever its scopes let it")
  .option("--jobs-per-day <n>", "jobs that it may begin in a day of UTC; 0: any number", count)
  .option("--pages-per-day <n>", "pages that its jobs may fetch in a day of UTC; 0: any number", count)
  .option("--max-stored-bytes <n>", "bytes of captures and uploads that it may store; 0: any number", count)
  .addOption(json())
  .action((id: string, options: KeyLimits, command: Command) =>
    withApi(command, (api) => limitKey(api, terminal, id, options)),
  );
keys
  .command("usage")
  .description("what a key has used, day by day, and what its quotas leave of it")
  .argument("[key-id]", "another key, or all; left out: the one that asks")
  .option("--from <day>", "e.g. 2030-01-31; left out: 30 days in all")
  .option("--to <day>", "left out: today")
  .addOption(json())
  .action((id: string | undefined, options: UsageOptions, command: Command) =>
    withApi(command, (api) => showUsage(api, terminal, id, options)),
  );
keys
  .command("revoke")
  .description("end a key at once")
  .argument("<key-id>")
  .addOption(json())
  .action((id: string, options: { json?: true }, command: Command) =>
    withApi(command, (api) => revokeKey(api, terminal, id, options)),
  );

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CliError)) throw error;
  const said = `strandline: ${error.message}\n${error.hint ? `  ${error.hint}\n` : ""}`;
  process.stderr.write(process.stderr.isTTY ? steerless(said) : said);
  exitCode = error.exitCode;
}
process.exitCode = exitCode;
