/** The commands that see to monitored sources and webhooks. */
import { type Command, Option } from "commander";
import type { ApiClient } from "./api-client.ts";
import type { Around } from "./around.ts";
import {
  addSource,
  changeSource,
  deleteSource,
  listSources,
  type SourceOptions,
  showSource,
  sourceHistory,
  triggerSource,
} from "./commands/sources.ts";
import { listDeliveries, listWebhooks, redeliver, rotateSecret, testWebhook } from "./commands/webhooks.ts";
import type { Terminal } from "./terminal.ts";

type Shown = { json?: true };

export function addMonitoringCommands(program: Command, around: Around): void {
  addSourceCommands(program, around);
  addWebhookCommands(program, around);
}

function addSourceCommands(program: Command, { withApi, terminal, json, limit, repeated, count }: Around): void {
  const sources = program
    .command("sources")
    .description("crawl pages, sites, feeds and sitemaps again and again, by a schedule");
  const withFields = (command: Command): Command =>
    command
      .option("--name <name>", "what it is called")
      .addOption(new Option("--type <type>", "what it is").choices(["page", "site", "feed", "sitemap"]))
      .option("--cron <expression>", "when it is crawled: five fields, as in '0 */6 * * *'; none: when somebody asks")
      .option("--time-zone <name>", "whose clocks the expression means, as in Europe/Berlin")
      .option(
        "--longest-hours <n>",
        "leave it alone for longer where it does not change, up to so long; 0: do not",
        count,
      )
      .option("--shortest-hours <n>", "and for at least so long where it does (1)", count)
      .addOption(new Option("--scope <scope>", "site: where links may lead").choices(["host", "domain", "prefix"]))
      .option("--include <pattern>", "site, feed, sitemap: only URLs that match (RE2; may be repeated)", repeated)
      .option("--exclude <pattern>", "site, feed, sitemap: no URL that matches (RE2; may be repeated)", repeated)
      .option("--depth <n>", "site: follow links this deep", count)
      .option("--max-pages <n>", "site: fetch at most this many pages", count)
      .option("--max-entries <n>", "feed, sitemap: crawl at most this many entries in one run", count)
      .option("--config-id <id>", "named config of its jobs")
      .option("--collection <id>", "collection of its documents")
      .option("--tag <tag>", "tag of its jobs (may be repeated)", repeated)
      .addOption(new Option("--priority <level>", "before or after other jobs").choices(["high", "normal", "low"]))
      .addOption(json());
  sources
    .command("list", { isDefault: true })
    .description("list sources, newest first (also without the word list)")
    .addOption(limit(50))
    .addOption(json())
    .action((options: Shown & { limit: number }, command: Command) =>
      withApi(command, (api) => listSources(api, terminal, options)),
    );
  withFields(
    sources.command("add").description("monitor a page, a site, a feed or a sitemap").argument("<url>"),
  ).action((url: string, options: SourceOptions, command: Command) =>
    withApi(command, (api) => addSource(api, terminal, url, options)),
  );
  withFields(
    sources
      .command("change")
      .description("change what is named; the rest stays")
      .argument("<source-id>")
      .option("--address <url>", "crawl this URL"),
  ).action((id: string, options: SourceOptions, command: Command) =>
    withApi(command, (api) => changeSource(api, terminal, id, options)),
  );
  /** A command that takes a source and nothing else. */
  const add = (
    name: string,
    about: string,
    run: (api: ApiClient, terminal: Terminal, id: string, options: Shown) => Promise<number>,
  ) =>
    sources
      .command(name)
      .description(about)
      .argument("<source-id>")
      .addOption(json())
      .action((id: string, options: Shown, command: Command) =>
        withApi(command, (api) => run(api, terminal, id, options)),
      );
  add("show", "show a source, with its latest jobs and when it is crawled next", showSource);
  add("trigger", "crawl a source now", triggerSource);
  add("pause", "let its schedule rest", (api, to, id, options) =>
    changeSource(api, to, id, { ...options, active: false }),
  );
  add("resume", "let its schedule fire again", (api, to, id, options) =>
    changeSource(api, to, id, { ...options, active: true }),
  );
  add("delete", "monitor a source no longer; what was crawled stays", deleteSource);
  sources
    .command("history")
    .description("list its jobs, newest first")
    .argument("<source-id>")
    .addOption(limit(20))
    .addOption(json())
    .action((id: string, options: Shown & { limit: number }, command: Command) =>
      withApi(command, (api) => sourceHistory(api, terminal, id, options)),
    );
}

function addWebhookCommands(program: Command, { withApi, terminal, json, limit, count }: Around): void {
  const webhooks = program.command("webhooks").description("see what webhooks are told (needs an admin key)");
  webhooks
    .command("list", { isDefault: true })
    .description("list the standing webhooks, newest first (also without the word list)")
    .option("--job <id>", "those of one job instead")
    .addOption(limit(50))
    .addOption(json())
    .action((options: Shown & { limit: number; job?: string }, command: Command) =>
      withApi(command, (api) => listWebhooks(api, terminal, options)),
    );
  webhooks
    .command("deliveries")
    .description("list the deliveries of 30 days, newest first")
    .argument("<webhook-id>")
    .option("--status <status>", "only those in this state")
    .addOption(limit(50))
    .addOption(json())
    .action((id: string, options: Shown & { limit: number; status?: string }, command: Command) =>
      withApi(command, (api) => listDeliveries(api, terminal, id, options)),
    );
  webhooks
    .command("test")
    .description("deliver a test event, once")
    .argument("<webhook-id>")
    .addOption(json())
    .action((id: string, options: Shown, command: Command) =>
      withApi(command, (api) => testWebhook(api, terminal, id, options)),
    );
  webhooks
    .command("redeliver")
    .description("make a delivery once more")
    .argument("<webhook-id>")
    .argument("<delivery-id>")
    .addOption(json())
    .action((id: string, deliveryId: string, options: Shown, command: Command) =>
      withApi(command, (api) => redeliver(api, terminal, id, deliveryId, options)),
    );
  webhooks
    .command("rotate")
    .description("sign with a new secret, and print it; the one before it stays valid for a while")
    .argument("<webhook-id>")
    .option("--overlap-hours <n>", "how long both are valid (24)", count)
    .addOption(json())
    .action((id: string, options: Shown & { overlapHours?: number }, command: Command) =>
      withApi(command, (api) => rotateSecret(api, terminal, id, options)),
    );
}
