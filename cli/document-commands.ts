/** The commands that see to documents. */
import { type Command, InvalidArgumentError } from "commander";
import type { Around } from "./around.ts";
import { listChunkSizes, pauseChunkSize, useChunkSize } from "./commands/chunk-sizes.ts";
import {
  deleteDocument,
  type ListOptions,
  listDocuments,
  restoreDocument,
  showDocument,
  type UploadOptions,
  upload,
} from "./commands/documents.ts";
import {
  activateGeneration,
  diffGenerations,
  type GenerationListOptions,
  listGenerations,
} from "./commands/generations.ts";
import { writeLlms } from "./commands/llms.ts";
import { goBack, listModels, pauseModels } from "./commands/models.ts";
import { type ReconcileOptions, reconcile } from "./commands/reconcile.ts";
import {
  type ExportDocumentsOptions,
  exportDocuments,
  type ImportDocumentsOptions,
  importDocuments,
} from "./commands/transfer.ts";

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
    .option("--collection <id or name>", "only those of a collection")
    .option("--tag <name>", "only those with it (may be repeated)", repeated)
    .option("--domain <host>", "only those of a host")
    .option("--deleted", "those that can be restored, instead")
    .addOption(limit(20))
    .addOption(json())
    .action((options: ListOptions, used: Command) => withApi(used, (api) => listDocuments(api, terminal, options)));
  documents
    .command("llms <host>")
    .description("what was crawled of a host as llms.txt, on standard output")
    .option("--full", "with the texts, as llms-full.txt")
    .action((host: string, options: { full?: true }, used: Command) =>
      withApi(used, (api) => writeLlms(api, terminal, host, used.optsWithGlobals<typeof options>())),
    );
  addTransferCommands(documents, { withApi, terminal, json, repeated });
  for (const [name, about, run] of [
    ["show", "a document as Markdown", showDocument],
    ["delete", "hide a document, and keep crawls from bringing it back", deleteDocument],
    ["restore", "bring a deleted document back", restoreDocument],
  ] as const) {
    documents
      .command(`${name} <document-id>`)
      .description(about)
      .addOption(json())
      .action((id: string, _: unknown, used: Command) =>
        withApi(used, (api) => run(api, terminal, id, used.optsWithGlobals<{ json?: true }>())),
      );
  }
  program
    .command("reconcile")
    .description("compare the vectors with the documents by id, and repair both (needs an admin key)")
    .option("--dry-run", "tell what differs, and change nothing")
    .option("--detach", "do not wait until lost vectors are made again")
    .option("--cursor <cursor>", "go on where a run was broken off")
    .addOption(json())
    .action((options: ReconcileOptions, used: Command) => withApi(used, (api) => reconcile(api, terminal, options)));
  addGenerationCommands(program, { withApi, terminal, json, limit });
  addModelCommands(program, { withApi, terminal, json });
  addChunkSizeCommands(program, { withApi, terminal, json });
}

function addModelCommands(
  program: Command,
  { withApi, terminal, json }: Pick<Around, "withApi" | "terminal" | "json">,
): void {
  const models = program.command("models").description("the embedding models, and how far a change of them is");
  models
    .addOption(json())
    .action((options: { json?: true }, used: Command) => withApi(used, (api) => listModels(api, terminal, options)));
  for (const [name, about, paused] of [
    ["pause", "stop the change to another model where it is", true],
    ["resume", "let it go on", false],
  ] as const) {
    models
      .command(name)
      .description(about)
      .addOption(json())
      .action((_: unknown, used: Command) =>
        withApi(used, (api) => pauseModels(api, terminal, paused, used.optsWithGlobals<{ json?: true }>())),
      );
  }
  models
    .command("back <model> <dimension>")
    .description("have a model answer again whose vectors are kept")
    .addOption(json())
    .action((model: string, dimension: string, _: unknown, used: Command) =>
      withApi(used, (api) => goBack(api, terminal, [model, dimension], used.optsWithGlobals<{ json?: true }>())),
    );
}

function addChunkSizeCommands(
  program: Command,
  { withApi, terminal, json }: Pick<Around, "withApi" | "terminal" | "json">,
): void {
  const sizes = program
    .command("chunk-size")
    .description("the size that documents are cut to, and how far a change is");
  sizes
    .addOption(json())
    .action((options: { json?: true }, used: Command) =>
      withApi(used, (api) => listChunkSizes(api, terminal, options)),
    );
  sizes
    .command("use")
    .description("cut all documents to another size, or go back to one that is kept")
    .argument("<tokens>", 'or "crawled": each document by its own settings', sizeOf)
    .addOption(json())
    .action((tokens: number | null, _: unknown, used: Command) =>
      withApi(used, (api) => useChunkSize(api, terminal, tokens, used.optsWithGlobals<{ json?: true }>())),
    );
  for (const [name, about, paused] of [
    ["pause", "stop the change to another size where it is", true],
    ["resume", "let it go on", false],
  ] as const) {
    sizes
      .command(name)
      .description(about)
      .addOption(json())
      .action((_: unknown, used: Command) =>
        withApi(used, (api) => pauseChunkSize(api, terminal, paused, used.optsWithGlobals<{ json?: true }>())),
      );
  }
}

function sizeOf(tokens: string): number | null {
  if (tokens === "crawled") return null;
  if (/^[0-9]{1,6}$/.test(tokens)) return Number(tokens);
  throw new InvalidArgumentError('It must be a whole number, or "crawled".');
}

function addGenerationCommands(
  program: Command,
  { withApi, terminal, json, limit }: Pick<Around, "withApi" | "terminal" | "json" | "limit">,
): void {
  const generations = program.command("generations").description("what crawls have made visible, newest first");
  generations
    .option("--host <host>", "only those of a host, with its port")
    .option("--collection <id>", "only those of a collection")
    .addOption(limit(20))
    .addOption(json())
    .action((options: GenerationListOptions, used: Command) =>
      withApi(used, (api) => listGenerations(api, terminal, options)),
    );
  generations
    .command("activate <generation-id>")
    .description("show a generation again that was replaced and is kept")
    .addOption(json())
    // --json is an option of the command above, too, which takes it
    .action((id: string, _own: unknown, used: Command) =>
      withApi(used, (api) => activateGeneration(api, terminal, id, used.optsWithGlobals())),
    );
  generations
    .command("diff <from-id> <to-id>")
    .description("pages that came, went and changed between two generations")
    .option("--text", "with the lines of those that changed")
    .addOption(json())
    .action((from: string, to: string, _own: unknown, used: Command) =>
      withApi(used, (api) => diffGenerations(api, terminal, [from, to], used.optsWithGlobals())),
    );
}

function fromLine(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1 on.");
  return Number(text);
}

function addTransferCommands(
  documents: Command,
  { withApi, terminal, json, repeated }: Pick<Around, "withApi" | "terminal" | "json" | "repeated">,
): void {
  documents
    .command("export <file>")
    .description("write documents with their vectors to a file (.jsonl.gz); once more where it was broken off")
    .option("--collection <id or name>", "only those of a collection")
    .option("--tag <name>", "only those with it (may be repeated)", repeated)
    .option("--domain <host>", "only those of a host")
    .addOption(json())
    .action((file: string, _: unknown, used: Command) =>
      // options of the same name are taken to be those of `documents`
      withApi(used, (api) => exportDocuments(api, terminal, file, used.optsWithGlobals<ExportDocumentsOptions>())),
    );
  documents
    .command("import <file>")
    .description("store what was exported; what is there already stays as it is")
    .option("--collection <id or name>", "where all of it goes, in place of the collections that it was in")
    .option("--from-line <number>", "go on from a line", fromLine)
    .addOption(json())
    .action((file: string, _: unknown, used: Command) =>
      withApi(used, (api) => importDocuments(api, terminal, file, used.optsWithGlobals<ImportDocumentsOptions>())),
    );
}
