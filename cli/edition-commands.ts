/** The commands that see to sources and archive jobs. */
import { type Command, Option } from "commander";
import type { ApiClient } from "./api-client.ts";
import type { Around } from "./around.ts";
import { releaseDataset } from "./commands/dataset.ts";
import {
  cleanUpJob,
  computeChanges,
  createJob,
  indexJob,
  listArchiveJobs,
  registerFiles,
  reportStorage,
  retryArchiveJob,
  seedSources,
  showArchiveJob,
  validateConfig,
} from "./commands/editions.ts";
import { judgeRanking } from "./commands/golden.ts";
import type { Terminal } from "./terminal.ts";

type Asked = Record<string, unknown> & { json?: true };

export function addEditionCommands(program: Command, { withApi, terminal, json, repeated, count }: Around): void {
  /** A command of the API whose options go to `run`. */
  const add = (
    name: string,
    about: string,
    options: readonly Option[],
    run: (api: ApiClient, terminal: Terminal, options: never) => Promise<number>,
  ): void => {
    const command = program.command(name).description(`${about} (needs an admin key)`);
    for (const each of [...options, json()]) command.addOption(each);
    command.action((asked: Asked, used: Command) => withApi(used, (api) => run(api, terminal, asked as never)));
  };
  const id = () => new Option("--id <number>", "the job").argParser(count).makeOptionMandatory();
  const source = () => new Option("--source <code>", "the source");
  const ofJob = () => [
    source().makeOptionMandatory(),
    new Option("--name <name>", "in place of what the source's template makes"),
    new Option("--seed <url>", "beside those of the source (may be repeated)").argParser(repeated),
    new Option("--option <name=value>", "tool option (may be repeated)").argParser(repeated),
    new Option("--arg <argument>", "option of the crawler, as in --arg=--depth=2 (may be repeated)").argParser(
      repeated,
    ),
  ];
  const file = () => new Option("--file <file>", "JSON or YAML file: {sources: […]}");

  add("seed-sources", "write sources; without a file, those that an archive begins with", [file()], seedSources);
  add("create-job", "archive a source: crawl it, and index what comes", ofJob(), createJob);
  add("validate-config", "say what such a job would be, or what is wrong with it", ofJob(), validateConfig);
  const limits = [
    source(),
    new Option("--status <status>", "only those in this state"),
    new Option("--limit <n>", "entries to show").argParser(count).default(20),
  ];
  add("list-jobs", "list archive jobs, newest first", limits, listArchiveJobs);
  add("show-job", "show an archive job with its configuration", [id()], showArchiveJob);
  add("retry-job", "crawl a failed job again, or index an index_failed one again", [id()], retryArchiveJob);
  add("index-job", "index and compare anew what a job has captured", [id()], indexJob);
  const cleaning = [
    id(),
    new Option("--mode <mode>", "what goes").choices(["temp"]).default("temp"),
    new Option("--dry-run", "say what would go, and delete nothing"),
  ];
  add("cleanup-job", "delete the temporary files of a job that is done with", cleaning, cleanUpJob);
  const registering = [
    source().makeOptionMandatory(),
    new Option("--name <name>", "in place of what the source's template makes"),
    new Option("--key <key>", "of a WARC or WACZ file in the bucket (may be repeated)")
      .argParser(repeated)
      .makeOptionMandatory(),
  ];
  add("register", "make a job of WARC files that lie in the bucket", registering, registerFiles);
  const releasing = [
    new Option("--output <folder>", "a folder of its own").makeOptionMandatory(),
    source(),
    new Option("--from <day>", "of captures, in UTC"),
    new Option("--to <day>", "which belongs to it"),
  ];
  add(
    "release-dataset",
    "write the lists of snapshots and changes into files with checksums",
    releasing,
    releaseDataset,
  );
  const judging = [
    new Option("--file <file>", "JSON or YAML file: {queries: [{q, expect: [URL…], within}]}").makeOptionMandatory(),
    new Option("--ranking <version>", "v1 leaves out what other pages say").choices(["v1", "v2"]),
  ];
  add("golden-queries", "judge the ranking of the archive's search by what queries should find", judging, judgeRanking);
  add("storage-report", "say what sources take in the bucket", [], reportStorage);
  add("compute-changes", "have captures compared again, of one source or all", [source()], computeChanges);
}
