/** The commands that bring captures in and out as files, and see to the WARC files of the archive. */
import { type Command, Option } from "commander";
import type { Around } from "./around.ts";
import {
  deleteExport,
  type ExportListOptions,
  type ExportOptions,
  exportWacz,
  listExports,
} from "./commands/export.ts";
import { importWarc } from "./commands/import.ts";
import { listWarcs, runOnWarcs } from "./commands/warcs.ts";

export function addArchiveCommands(program: Command, { withApi, terminal, json, limit }: Around): void {
  program
    .command("import")
    .description("bring a WARC or WACZ file into the archive, and wait until it is indexed (needs an admin key)")
    .argument("<file>", "whose name ends in .warc, .warc.gz, .warc.zst, .arc, .arc.gz or .wacz")
    .option("--source <code>", "source that its captures belong to")
    .addOption(json())
    .action((file: string, options: { json?: true; source?: string }, command: Command) =>
      withApi(command, (api) => importWarc(api, terminal, file, options)),
    );

  program
    .command("export")
    .description("download what a job has captured, or what the archive has of a URL, as a WACZ file")
    .argument("<what>", "a job's id; or a URL, https://example.org/* or *.example.org")
    .option("--from <time>", "of a URL: captured then or later, as in 2024 or 20240102")
    .option("--to <time>", "of a URL: captured then or before")
    .option("--filter <filter...>", "of a URL: as in =status:200")
    .option("--output <file>", "where to write it, in place of a file named after it; nothing is written over")
    .addOption(json())
    .action((what: string, options: ExportOptions, command: Command) =>
      withApi(command, (api) => exportWacz(api, terminal, what, options)),
    );

  const exports = program.command("exports").description("the WACZ files that were asked for, newest first");
  exports
    .addOption(limit(20))
    .addOption(json())
    .action((options: ExportListOptions, used: Command) => withApi(used, (api) => listExports(api, terminal, options)));
  exports
    .command("delete <export-id>")
    .description("delete one with its file; what it was made of stays")
    .action((id: string, _: unknown, used: Command) => withApi(used, (api) => deleteExport(api, terminal, id)));

  program
    .command("warcs")
    .description("list the WARC files of the archive: SHA-256, key, size, captures (needs an admin key)")
    .option("--unused", "those at which no capture points")
    .option("--json", "the API's answers, a line each, instead of their files")
    .action((options: { unused?: true; json?: true }, command: Command) =>
      withApi(command, (api) => listWarcs(api, terminal, options)),
    );

  program
    .command("verify-warcs")
    .description("read WARC files through, and say what is wrong where (needs an admin key)")
    .addOption(
      new Option("--level <level>", "how far").choices(["readable", "gzip", "parsed", "digests"]).default("digests"),
    )
    .option("--key <key>", "of one file, in place of all")
    .addOption(json())
    .action(({ json: asJson, ...options }: { level: string; key?: string; json?: true }, command: Command) =>
      withApi(command, (api) =>
        runOnWarcs(api, terminal, { kind: "verify", ...options }, asJson ? { json: asJson } : {}),
      ),
    );

  program
    .command("consolidate-warcs")
    .description("copy small WARC files into large ones (needs an admin key)")
    .addOption(json())
    .action((options: { json?: true }, command: Command) =>
      withApi(command, (api) => runOnWarcs(api, terminal, { kind: "consolidate" }, options)),
    );

  program
    .command("clean-warcs")
    .description("delete WARC files that nothing needs (needs an admin key)")
    .option("--dry-run", "say what would go, and delete nothing")
    .addOption(json())
    .action(({ dryRun = false, ...options }: { dryRun?: boolean; json?: true }, command: Command) =>
      withApi(command, (api) => runOnWarcs(api, terminal, { kind: "clean", dryRun }, options)),
    );
}
