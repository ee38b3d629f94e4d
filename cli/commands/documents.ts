/** `upload`, and `documents` listed, shown, deleted, restored. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../exit.ts";
import type { Page } from "../jobs-api.ts";
import { harmless, type Terminal } from "../terminal.ts";
import { describe, send } from "./import.ts";

interface Named {
  id: string;
  name: string;
}

interface Document {
  id: string;
  url: string;
  title: string | null;
  language: string;
  tags: Named[];
  crawled_at: string;
}

interface Batch {
  items: { outcome: string; document_id?: string; code?: string; error?: string }[];
  failed: number;
}

export interface UploadOptions {
  collection?: string;
  tag?: string[];
  language?: string;
  json?: true;
}

/** Documents in one request, and their bytes: a request holds 6 MB, and JSON escapes take some. */
const MOST_AT_ONCE = 50;
const MOST_BYTES = 3_000_000;

export async function upload(
  api: ApiClient,
  terminal: Terminal,
  files: readonly string[],
  { collection, tag: tags, language, json }: UploadOptions,
): Promise<number> {
  const collection_id = collection === undefined ? undefined : await collectionId(api, collection);
  let failed = 0;
  for (const part of parts(await Promise.all(files.map((file) => readUploaded(api, file))))) {
    const documents = part.map(({ file, ...content }) => ({
      ...content,
      ...{ filename: basename(file), collection_id, tags, language },
    }));
    const answer = await api<Batch>("POST", "/api/v1/documents/batch", { documents });
    failed += answer.failed;
    if (json) {
      terminal.line(JSON.stringify(answer, null, 2));
      continue;
    }
    for (const [at, { outcome, document_id, code, error }] of answer.items.entries()) {
      const file = harmless(part[at]?.file ?? "");
      terminal.line(
        error === undefined ? `${document_id}  ${outcome}  ${file}` : harmless(`${file}: ${error} (${code})`),
      );
    }
  }
  return failed === 0 ? EXIT.done : EXIT.failed;
}

type Uploaded = { file: string } & ({ content: string } | { content_base64: string } | { upload_id: string });

/** What a text may not begin with: the server tells what else a file is. */
const FILE_STARTS = ["%PDF-", "PK\u0003\u0004"];

async function readUploaded(api: ApiClient, file: string): Promise<Uploaded> {
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new CliError(`${file} cannot be read (${cause.code ?? "unknown"})`, EXIT.usage);
  });
  if (bytes.length > MOST_BYTES) return { file, upload_id: await putFile(api, file) };
  const content = textOf(bytes);
  return content === null ? { file, content_base64: bytes.toString("base64") } : { file, content };
}

interface Announced {
  upload_id: string;
  upload_url: string;
  headers: Record<string, string>;
}

async function putFile(api: ApiClient, file: string): Promise<string> {
  const { bytes, sha256 } = await describe(file);
  const { upload_id, upload_url, headers } = await api<Announced>("POST", "/api/v1/documents/uploads", {
    bytes,
    sha256,
  });
  await send(file, { uploadUrl: upload_url, headers });
  return upload_id;
}

function textOf(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return FILE_STARTS.some((start) => text.startsWith(start)) || text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

function parts(files: readonly Uploaded[]): Uploaded[][] {
  const made: Uploaded[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const each of files) {
    const size = Buffer.byteLength(JSON.stringify(each));
    if (bytes + size > MOST_BYTES || made.at(-1)?.length === MOST_AT_ONCE) {
      made.push([]);
      bytes = 0;
    }
    made.at(-1)?.push(each);
    bytes += size;
  }
  return made;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** By its id or its name; one that is missing is made, unless it must be there. */
export async function collectionId(api: ApiClient, collection: string, which?: "existing"): Promise<string> {
  if (UUID.test(collection)) return collection;
  const named = (await all<Named>(api, "/api/v1/collections")).find(({ name }) => name === collection);
  if (named === undefined && which === "existing") {
    throw new CliError(`There is no collection ${collection}`, EXIT.usage);
  }
  return (named ?? (await api<Named>("POST", "/api/v1/collections", { name: collection }))).id;
}

async function all<Item>(api: ApiClient, path: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const more: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const page: Page<Item> = await api<Page<Item>>("GET", `${path}?limit=200${more}`);
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
}

export interface ListOptions {
  collection?: string;
  tag?: string[];
  domain?: string;
  deleted?: true;
  limit: number;
  json?: true;
}

export async function listDocuments(
  api: ApiClient,
  terminal: Terminal,
  { collection, tag, domain, deleted, limit, json }: ListOptions,
): Promise<number> {
  const query = new URLSearchParams({ limit: String(Math.min(limit, 200)) });
  if (collection !== undefined) query.set("collection_id", await collectionId(api, collection, "existing"));
  if (tag !== undefined) query.set("tags", tag.join(","));
  if (domain !== undefined) query.set("domain", domain);
  if (deleted) query.set("deleted", "true");
  const page = await api<Page<Document>>("GET", `/api/v1/documents?${query}`);
  if (json) terminal.line(JSON.stringify(page, null, 2));
  else {
    for (const { id, title, url, language } of page.items) {
      terminal.row(harmless(`${id}  ${language}  ${title ?? "-"}  ${url}`));
    }
    if (page.next_cursor !== null) terminal.line(terminal.dim("There are more: --limit shows up to 200."));
  }
  return EXIT.done;
}

export async function showDocument(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { json }: { json?: true },
): Promise<number> {
  const document = await api<Document & { markdown: string }>("GET", `/api/v1/documents/${encodeURIComponent(id)}`);
  if (json) terminal.line(JSON.stringify(document, null, 2));
  else {
    const tags = document.tags.map(({ name }) => name).join(", ");
    terminal.line(harmless(document.title ?? document.url));
    terminal.line(terminal.dim(harmless(`${document.url}, ${document.crawled_at}${tags === "" ? "" : `, ${tags}`}`)));
    for (const line of document.markdown.split("\n")) terminal.line(harmless(line));
  }
  return EXIT.done;
}

export async function deleteDocument(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { json }: { json?: true },
): Promise<number> {
  const answer = await api<null>("DELETE", `/api/v1/documents/${encodeURIComponent(id)}`);
  terminal.line(json ? JSON.stringify(answer) : `Document ${harmless(id)} is deleted: for 30 days it can be restored.`);
  return EXIT.done;
}

export async function restoreDocument(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { json }: { json?: true },
): Promise<number> {
  const answer = await api<Document>("POST", `/api/v1/documents/${encodeURIComponent(id)}/restore`);
  terminal.line(json ? JSON.stringify(answer, null, 2) : `Document ${harmless(id)} can be found again.`);
  return EXIT.done;
}
