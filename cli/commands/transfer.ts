/** `documents export` and `documents import`: documents with their vectors as a file of lines, and back. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { createGunzip, gzipSync } from "node:zlib";
import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../exit.ts";
import { harmless, type Terminal } from "../terminal.ts";
import { collectionId } from "./documents.ts";

export interface ExportDocumentsOptions {
  collection?: string;
  tag?: string[];
  domain?: string;
  json?: true;
}

interface Part {
  documents: number;
  bytes: number;
  sha256: string;
  download_url: string;
  next_cursor: string | null;
}

/** Of an export that has begun: what the unfinished file holds, and how it goes on. */
interface Progress {
  selection: string;
  cursor: string | null;
  bytes: number;
  documents: number;
}

/** Goes on where an export to the same file was broken off. */
export async function exportDocuments(
  api: ApiClient,
  terminal: Terminal,
  file: string,
  { collection, tag: tags, domain, json }: ExportDocumentsOptions,
): Promise<number> {
  if ((await stat(file).catch(() => null)) !== null) {
    throw new CliError(`${file} is there already: name another file, or remove it`, EXIT.usage);
  }
  const collection_id = collection === undefined ? undefined : await collectionId(api, collection, "existing");
  const wanted = { collection_id, tags, domain };
  const [unfinished, notes] = [`${file}.part`, `${file}.part.json`];
  const progress = await begunExport(unfinished, notes, JSON.stringify(wanted));
  do {
    const cursor = progress.cursor ?? undefined;
    const part = await api<Part>("POST", "/api/v1/documents/export", { ...wanted, cursor });
    const bytes = await download(part);
    const target = await writable(unfinished);
    try {
      await target.write(bytes, 0, bytes.length, progress.bytes);
    } finally {
      await target.close();
    }
    progress.bytes += bytes.length;
    progress.documents += part.documents;
    progress.cursor = part.next_cursor;
    await writeFile(notes, JSON.stringify(progress));
  } while (progress.cursor !== null);
  await rename(unfinished, file);
  await rm(notes);
  const { documents, bytes } = progress;
  terminal.line(json ? JSON.stringify({ file, documents, bytes }) : `${harmless(file)}: ${documents} documents`);
  return EXIT.done;
}

async function begunExport(unfinished: string, notes: string, selection: string): Promise<Progress> {
  const known = await readFile(notes, "utf8").then(JSON.parse, () => null);
  if (known === null) return { selection, cursor: null, bytes: 0, documents: 0 };
  const progress = known as Progress;
  if (progress.selection !== selection) {
    throw new CliError(`${unfinished} is of another export: remove it and ${notes}, or name another file`, EXIT.usage);
  }
  await truncate(unfinished, progress.bytes);
  return progress;
}

async function writable(file: string) {
  return await open(file, "a")
    .then((appending) => appending.close())
    .then(() => open(file, "r+"))
    .catch((error: Error) => {
      throw new CliError(`${file} cannot be written: ${error.message}`, EXIT.failed);
    });
}

async function download({ download_url, sha256 }: Part): Promise<Buffer> {
  const answer = await fetch(download_url).catch((error: unknown) => {
    throw new CliError(`The export could not be downloaded: ${(error as Error).message}`, EXIT.unreachable);
  });
  if (!answer.ok) throw new CliError(`The export could not be downloaded: status ${answer.status}`, EXIT.failed);
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (createHash("sha256").update(bytes).digest("hex") === sha256) return bytes;
  throw new CliError("The export did not arrive as it was sent: run it again, and it goes on", EXIT.failed);
}

export interface ImportDocumentsOptions {
  collection?: string;
  fromLine?: number;
  json?: true;
}

interface Imported {
  created: number;
  updated: number;
  unchanged: number;
  failed: { line: number; code: string; error: string }[];
  vectors: number;
  to_embed: number;
  next_line: number | null;
}

type Totals = Omit<Imported, "next_line">;

/** Unpacked bytes that are sent at once, or the longest line. */
const SENT_AT_ONCE = 16_000_000;
const SHOWN_FAILURES = 20;

/** What was imported before changes nothing: a broken import is begun anew, or goes on from a line. */
export async function importDocuments(
  api: ApiClient,
  terminal: Terminal,
  file: string,
  { collection, fromLine = 1, json }: ImportDocumentsOptions,
): Promise<number> {
  const collection_id = collection === undefined ? undefined : await collectionId(api, collection);
  const totals: Totals = { created: 0, updated: 0, unchanged: 0, failed: [], vectors: 0, to_embed: 0 };
  let before = 0;
  for await (const { bytes, lines } of pieces(file)) {
    if (before + lines >= fromLine) {
      const upload_id = await put(api, gzipSync(bytes));
      let next: number | null = Math.max(1, fromLine - before);
      while (next !== null) {
        const body = { upload_id, collection_id, from_line: next };
        const answer: Imported = await api<Imported>("POST", "/api/v1/documents/import", body);
        add(totals, answer, before);
        next = answer.next_line;
      }
    }
    before += lines;
  }
  if (json) terminal.line(JSON.stringify(totals, null, 2));
  else show(terminal, totals);
  return totals.failed.length === 0 ? EXIT.done : EXIT.failed;
}

function add(totals: Totals, { failed, next_line, ...counts }: Imported, before: number): void {
  for (const name of ["created", "updated", "unchanged", "vectors", "to_embed"] as const) totals[name] += counts[name];
  totals.failed.push(...failed.map(({ line, ...why }) => ({ line: before + line, ...why })));
}

/** Whole lines, as many as are sent at once. */
async function* pieces(file: string): AsyncGenerator<{ bytes: Buffer; lines: number }> {
  let kept: Buffer[] = [];
  let size = 0;
  for await (const piece of unpacked(file)) {
    kept.push(piece);
    size += piece.length;
    const end = piece.lastIndexOf("\n");
    if (size < SENT_AT_ONCE || end === -1) continue;
    const rest = piece.subarray(end + 1);
    const bytes = Buffer.concat(kept).subarray(0, size - rest.length);
    yield { bytes, lines: lineFeeds(bytes) };
    [kept, size] = [[rest], rest.length];
  }
  const bytes = Buffer.concat(kept);
  if (bytes.length > 0) yield { bytes, lines: lineFeeds(bytes) + 1 };
}

function lineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf("\n"); at !== -1; at = bytes.indexOf("\n", at + 1)) count++;
  return count;
}

async function* unpacked(file: string): AsyncGenerator<Buffer> {
  const source = createReadStream(file);
  try {
    const isPacked = (await firstBytes(file)).equals(Buffer.from("1f8b", "hex"));
    const bytes: Readable = isPacked ? source.pipe(createGunzip()) : source;
    source.on("error", (error) => bytes.destroy(error));
    yield* bytes as AsyncIterable<Buffer>;
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`, EXIT.usage);
  } finally {
    source.destroy();
  }
}

async function firstBytes(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

interface Announced {
  upload_id: string;
  upload_url: string;
  headers: Record<string, string>;
}

async function put(api: ApiClient, bytes: Buffer): Promise<string> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const { upload_id, upload_url, headers } = await api<Announced>("POST", "/api/v1/documents/uploads", {
    ...{ bytes: bytes.length, sha256 },
  });
  const answer = await fetch(upload_url, { method: "PUT", headers, body: new Uint8Array(bytes) }).catch(
    (error: unknown) => {
      throw new CliError(`The lines could not be uploaded: ${(error as Error).message}`, EXIT.unreachable);
    },
  );
  if (answer.ok) return upload_id;
  throw new CliError(`The lines could not be uploaded: status ${answer.status}`, EXIT.failed);
}

function show(terminal: Terminal, { created, updated, unchanged, failed, vectors, to_embed }: Totals): void {
  for (const { line, code, error } of failed.slice(0, SHOWN_FAILURES)) {
    terminal.line(harmless(`line ${line}: ${code}: ${error}`));
  }
  if (failed.length > SHOWN_FAILURES) terminal.line(`and ${failed.length - SHOWN_FAILURES} more (--json)`);
  terminal.line(`${created} created, ${updated} updated, ${unchanged} unchanged, ${failed.length} failed`);
  if (vectors + to_embed > 0) terminal.line(`${vectors} vectors came along, ${to_embed} are made`);
}
