/** The commands that see to documents. */
import type { Command, Option } from "commander";
import type { ApiClient } from "./api-client.ts";
import {
  deleteDocument,
  type ListOptions,
  listDocuments,
  restoreDocument,
  showDocument,
  type UploadOptions,
  upload,
} from "./commands/documents.ts";
import type { Terminal } from "./terminal.ts";

interface Around {
  withApi(command: Command, run: (api: ApiClient) => Promise<number>): Promise<void>;
  terminal: Terminal;
  json(): Option;
  limit(value: number): Option;
  repeated(text: string, before: string[] | undefined): string[];
}

export function addDocumentCommands(program: Command, { withApi, terminal, json, limit, repeated }: Around): void {
  program
    .command("upload <file...>")
    .description("store Markdown, HTML, plain text, PDF or DOCX of one's own, so that searches find it")
    .option("--collection <id or name>", "where it goes; a name that is missing is made")
    .option("--tag <name>", "may be repeated", repeated)
    .option("--language <code>", "ISO 639-1, in place of what the text seems to be in")
    .addOption(json())
    .action((files: string[], options: UploadOptions, used: Command) =>
      withApi(used, (api) => upload(api, terminal, files, options)),
    );
  const documents = program.command("documents").description("the documents that searches find, newest first");
  documents
    .option("--collection <id>", "only those of a collection")
    .option("--tag <name>", "only those with it (may be repeated)", repeated)
    .option("--domain <host>", "only those of a host")
    .option("--deleted", "those that can be restored, instead")
    .addOption(limit(20))
    .addOption(json())
    .action((options: ListOptions, used: Command) => withApi(used, (api) => listDocuments(api, terminal, options)));
  for (const [name, about, run] of [
    ["show", "a document as Markdown", showDocument],
    ["delete", "hide a document, and keep crawls from bringing it back", deleteDocument],
    ["restore", "bring a deleted document back", restoreDocument],
  ] as const) {
    documents
      .command(`${name} <document-id>`)
      .description(about)
      .addOption(json())
      .action((id: string, options: { json?: true }, used: Command) =>
        withApi(used, (api) => run(api, terminal, id, options)),
      );
  }
}
