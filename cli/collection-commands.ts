/** The commands that put documents in order: collections and tags. */
import { type Command, InvalidArgumentError } from "commander";
import type { Around } from "./around.ts";
import {
  type CollectionOptions,
  createCollection,
  deleteCollection,
  deleteTag,
  type ListingOptions,
  listCollections,
  listTags,
  moveDocuments,
  reindexCollection,
  showCollection,
} from "./commands/collections.ts";

interface JsonOption {
  json?: true;
}

export function addCollectionCommands(program: Command, around: Around): void {
  const { withApi, terminal, json, limit, repeated } = around;
  const collections = program
    .command("collections")
    .description("what documents are kept apart in, newest first; each is named by its id or name");
  collections
    .addOption(limit(50))
    .addOption(json())
    .action((options: ListingOptions, used: Command) =>
      withApi(used, (api) => listCollections(api, terminal, options)),
    );
  collections
    .command("create <name>")
    .description("make a collection, which crawls and uploads can fill")
    .option("--description <text>", "what it is for")
    .option("--chunk-size <tokens>", "how its texts are cut where nothing else says", tokens)
    .option("--languages <code>", "the languages that are taken, ISO 639-1 (may be repeated)", repeated)
    .option("--language <code>", "what a text is in that is too short to tell")
    .addOption(json())
    // options of the same name are taken to be those of `collections`
    .action((name: string, _: unknown, used: Command) =>
      withApi(used, (api) => createCollection(api, terminal, name, used.optsWithGlobals<CollectionOptions>())),
    );
  collections
    .command("delete <collection>")
    .description("delete a collection that is empty")
    .option("--with-documents", "or one that is not, with what is in it, for good")
    .addOption(json())
    .action((collection: string, _: unknown, used: Command) =>
      withApi(used, (api) =>
        deleteCollection(api, terminal, collection, used.optsWithGlobals<JsonOption & { withDocuments?: true }>()),
      ),
    );
  for (const [name, about, run] of [
    ["show", "a collection, and what it says of its documents", showCollection],
    ["reindex", "cut its documents anew as its settings say by now", reindexCollection],
  ] as const) {
    collections
      .command(`${name} <collection>`)
      .description(about)
      .addOption(json())
      .action((collection: string, _: unknown, used: Command) =>
        withApi(used, (api) => run(api, terminal, collection, used.optsWithGlobals<JsonOption>())),
      );
  }
  for (const [name, about, direction] of [
    ["add", "move documents into a collection", "into"],
    ["remove", "take documents out of a collection; they are still found", "out of"],
  ] as const) {
    collections
      .command(`${name} <collection> <document-ids...>`)
      .description(about)
      .addOption(json())
      .action((collection: string, ids: string[], _: unknown, used: Command) =>
        withApi(used, (api) =>
          moveDocuments(api, terminal, [collection, direction], ids, used.optsWithGlobals<JsonOption>()),
        ),
      );
  }
  addTagCommands(program, around);
}

function addTagCommands(program: Command, { withApi, terminal, json, limit }: Around): void {
  const tags = program.command("tags").description("the tags of documents, by name; each is named by its id or name");
  tags
    .addOption(limit(50))
    .addOption(json())
    .action((options: ListingOptions, used: Command) => withApi(used, (api) => listTags(api, terminal, options)));
  tags
    .command("delete <tag>")
    .description("delete a tag, and take it from all documents")
    .addOption(json())
    .action((tag: string, _: unknown, used: Command) =>
      withApi(used, (api) => deleteTag(api, terminal, tag, used.optsWithGlobals<JsonOption>())),
    );
}

function tokens(text: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(text)) throw new InvalidArgumentError("It must be a whole number of tokens.");
  return Number(text);
}
