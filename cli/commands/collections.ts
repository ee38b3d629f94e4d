/** `collections` listed, made, filled, cut anew and deleted, and `tags` listed and deleted. */
import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../exit.ts";
import type { Page } from "../jobs-api.ts";
import { harmless, type Terminal } from "../terminal.ts";
import { collectionId } from "./documents.ts";

interface Collection {
  id: string;
  name: string;
  description: string | null;
  defaults: Record<string, unknown>;
  documents: number;
  created_at: string;
}

interface Tag {
  id: string;
  name: string;
  documents: number;
}

/** What became of each of several documents. */
interface Changed {
  changed: string[];
  failed: { document_id: string; code: string; error: string }[];
}

interface JsonOption {
  json?: true;
}

export interface CollectionOptions extends JsonOption {
  description?: string;
  chunkSize?: number;
  languages?: string[];
  language?: string;
}

export interface ListingOptions extends JsonOption {
  limit: number;
}

export async function listCollections(api: ApiClient, terminal: Terminal, options: ListingOptions): Promise<number> {
  const page = await api<Page<Collection>>("GET", `/api/v1/collections?limit=${Math.min(options.limit, 200)}`);
  return printPage(terminal, page, options, lineOf);
}

export async function listTags(api: ApiClient, terminal: Terminal, options: ListingOptions): Promise<number> {
  const page = await api<Page<Tag>>("GET", `/api/v1/tags?limit=${Math.min(options.limit, 200)}`);
  return printPage(
    terminal,
    page,
    options,
    ({ id, name, documents }) => `${id}  ${counted(documents).padEnd(13)}  ${name}`,
  );
}

export async function createCollection(
  api: ApiClient,
  terminal: Terminal,
  name: string,
  { description, chunkSize, languages, language, json }: CollectionOptions,
): Promise<number> {
  const defaults = {
    ...(chunkSize !== undefined && { chunk_size: chunkSize }),
    ...(languages && { languages }),
    ...(language !== undefined && { language }),
  };
  const made = await api<Collection>("POST", "/api/v1/collections", {
    name,
    ...(description !== undefined && { description }),
    defaults,
  });
  terminal.line(json ? JSON.stringify(made, null, 2) : harmless(lineOf(made)));
  return EXIT.done;
}

export async function showCollection(
  api: ApiClient,
  terminal: Terminal,
  collection: string,
  { json }: JsonOption,
): Promise<number> {
  const found = await api<Collection>("GET", `/api/v1/collections/${await existing(api, collection)}`);
  if (json) terminal.line(JSON.stringify(found, null, 2));
  else {
    terminal.line(harmless(lineOf(found)));
    if (found.description !== null) terminal.line(harmless(found.description));
    for (const [name, value] of Object.entries(found.defaults)) {
      if (value !== null) terminal.line(terminal.dim(harmless(`${name}: ${[value].flat().join(", ")}`)));
    }
  }
  return EXIT.done;
}

export async function deleteCollection(
  api: ApiClient,
  terminal: Terminal,
  collection: string,
  { withDocuments, json }: JsonOption & { withDocuments?: true },
): Promise<number> {
  const id = await existing(api, collection);
  await api<null>("DELETE", `/api/v1/collections/${id}${withDocuments ? "?delete_documents=true" : ""}`);
  const along = withDocuments ? ", with its documents, for good" : "";
  terminal.line(json ? JSON.stringify({ id }) : `Collection ${id} is deleted${along}.`);
  return EXIT.done;
}

/**
 * Moves documents into a collection, or takes them out of it.
 * @returns 1 where some could not be
 */
export async function moveDocuments(
  api: ApiClient,
  terminal: Terminal,
  [collection, direction]: readonly [string, "into" | "out of"],
  documents: readonly string[],
  { json }: JsonOption,
): Promise<number> {
  const path = `/api/v1/collections/${await existing(api, collection)}/documents`;
  const body = { document_ids: documents };
  const { changed, failed } = await api<Changed>("POST", direction === "into" ? path : `${path}/remove`, body);
  if (json) terminal.line(JSON.stringify({ changed, failed }, null, 2));
  else {
    terminal.line(`${changed.length} of ${documents.length} moved ${direction} the collection.`);
    for (const { document_id, error, code } of failed) {
      terminal.line(harmless(`${document_id}: ${error} (${code})`));
    }
  }
  return failed.length === 0 ? EXIT.done : EXIT.failed;
}

/** All of its documents, some hundreds at a time. */
export async function reindexCollection(
  api: ApiClient,
  terminal: Terminal,
  collection: string,
  { json }: JsonOption,
): Promise<number> {
  const path = `/api/v1/collections/${await existing(api, collection)}/reindex`;
  const all = { documents: 0, recut: 0 };
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = cursor === "" ? "" : `?cursor=${encodeURIComponent(cursor)}`;
    const part = await api<typeof all & { next_cursor: string | null }>("POST", `${path}${query}`);
    all.documents += part.documents;
    all.recut += part.recut;
    cursor = part.next_cursor;
  }
  terminal.line(json ? JSON.stringify(all) : `${counted(all.documents)} looked at, ${all.recut} cut anew.`);
  return EXIT.done;
}

/** @param tag its id or its name */
export async function deleteTag(
  api: ApiClient,
  terminal: Terminal,
  tag: string,
  { json }: JsonOption,
): Promise<number> {
  const id = await tagId(api, tag);
  await api<null>("DELETE", `/api/v1/tags/${id}`);
  terminal.line(json ? JSON.stringify({ id }) : harmless(`Tag ${tag} is deleted, and taken from all documents.`));
  return EXIT.done;
}

async function tagId(api: ApiClient, tag: string): Promise<string> {
  for (let cursor: string | null = ""; cursor !== null; ) {
    const more: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page<Tag> = await api<Page<Tag>>("GET", `/api/v1/tags?limit=200${more}`);
    const found = page.items.find(({ id, name }) => name === tag || id === tag);
    if (found !== undefined) return found.id;
    cursor = page.next_cursor;
  }
  throw new CliError(`There is no tag ${tag}`, EXIT.usage);
}

const existing = async (api: ApiClient, collection: string): Promise<string> =>
  encodeURIComponent(await collectionId(api, collection, "existing"));

function printPage<Item>(
  terminal: Terminal,
  page: Page<Item>,
  { json }: JsonOption,
  line: (item: Item) => string,
): number {
  if (json) terminal.line(JSON.stringify(page, null, 2));
  else {
    for (const item of page.items) terminal.row(harmless(line(item)));
    if (page.next_cursor !== null) terminal.line(terminal.dim("There are more: --limit shows up to 200."));
  }
  return EXIT.done;
}

const lineOf = ({ id, name, documents }: Collection): string => `${id}  ${counted(documents).padEnd(13)}  ${name}`;
const counted = (documents: number): string => `${documents} document${documents === 1 ? "" : "s"}`;
