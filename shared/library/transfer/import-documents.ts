/**
 * Stores documents that an export has written. Each line stands for itself: one that cannot be stored leaves the others
 * alone, and one that was stored before changes nothing.
 */
import { settleJob } from "../../crawl/jobs/lifecycle.ts";
import { crawlConfigSchema } from "../../crawl/settings/crawl-config.ts";
import type { Embedder, EmbedderDescriptor } from "../../knowledge/embedders/embedder.ts";
import { embeddingFault } from "../../knowledge/embedders/validation.ts";
import { sendEmbedTasks } from "../../knowledge/embedding/embed-task.ts";
import { embedChunks } from "../../knowledge/embedding/embed-worker.ts";
import type { VectorStore } from "../../knowledge/vector-stores/vector-store.ts";
import { databaseErrorCode } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import type { LibraryDependencies } from "../change-documents.ts";
import { sendWaiting } from "../change-documents.ts";
import { type Prepared, type StoredGroup, storeDocuments } from "../store-documents.ts";
import { type DocumentLine, decodeVectors, documentOfLine, parseLine } from "./document-line.ts";
import type { NumberedLine } from "./read-lines.ts";

export interface ImportDependencies extends Pick<LibraryDependencies, "sql" | "queues" | "log" | "flags"> {
  vectors(): Promise<VectorStore | null>;
  /** Of the configured model; null where embeddings are switched off. */
  descriptor: EmbedderDescriptor | null;
}

export interface ImportOptions {
  /** Where all of it goes; left out: each into the collection of its own name. */
  collectionId: string | undefined;
  /** Lines before are passed over. */
  fromLine: number;
  apiKeyId: string | null;
  /** By the clock of `performance`: nothing is begun after it. */
  until: number;
}

export interface FailedLine {
  line: number;
  code: string;
  error: string;
}

export interface Imported {
  created: number;
  updated: number;
  unchanged: number;
  failed: FailedLine[];
  /** Chunks whose vectors came along. */
  vectors: number;
  /** Chunks that are embedded anew. */
  toEmbed: number;
  /** null at the end of the file. */
  nextLine: number | null;
}

interface Ready extends Prepared {
  line: number;
  source: DocumentLine["source"];
  collection: DocumentLine["collection"];
  /** null: of another model, or none. */
  vectors: (Float32Array | null)[] | null;
}

const GROUP_DOCUMENTS = 25;
const GROUP_CHARACTERS = 2_000_000;
const MOST_FAILED = 1_000;

export async function importDocuments(
  dependencies: ImportDependencies,
  lines: AsyncIterable<NumberedLine>,
  options: ImportOptions,
): Promise<Imported> {
  const done: Imported = {
    ...{ created: 0, updated: 0, unchanged: 0, failed: [], vectors: 0, toEmbed: 0, nextLine: null },
  };
  // the sweep sees to vectors that are lost on the way
  await dependencies.flags.markActive();
  let group: Ready[] = [];
  let characters = 0;
  let lastId = "";
  for await (const { number, text } of lines) {
    if (number < options.fromLine) continue;
    const isFull = group.length >= GROUP_DOCUMENTS || characters >= GROUP_CHARACTERS;
    if (isFull || performance.now() >= options.until || done.failed.length >= MOST_FAILED) {
      await storeReady(dependencies, group, options, done);
      [group, characters] = [[], 0];
      if (performance.now() >= options.until || done.failed.length >= MOST_FAILED) {
        return { ...done, failed: inOrder(done.failed), nextLine: number };
      }
    }
    try {
      if (text instanceof ApiError) throw text;
      lastId = idAfter(lastId);
      group.push(prepare(number, text, lastId, dependencies.descriptor));
      characters += text.length;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      done.failed.push(failure(number, error));
    }
  }
  await storeReady(dependencies, group, options, done);
  return { ...done, failed: inOrder(done.failed) };
}

const failure = (line: number, { code, message }: ApiError): FailedLine => ({ line, code, error: message });
const inOrder = (failed: readonly FailedLine[]): FailedLine[] => failed.toSorted((a, b) => a.line - b.line);

/** Of one millisecond the ids are in no order: documents keep theirs. */
function idAfter(last: string): string {
  let id = uuidv7();
  while (id <= last) id = uuidv7();
  return id;
}

/** @throws ApiError */
function prepare(number: number, text: string, id: string, descriptor: EmbedderDescriptor | null): Ready {
  const line = parseLine(text);
  const { tags, metadata, source, collection } = line;
  const document = documentOfLine(line, id);
  return {
    ...{ line: number, tags, metadata, source, collection, document },
    vectors: usableVectors(line, descriptor),
  };
}

/** @throws ApiError 400 LINE_INVALID */
function usableVectors({ vectors }: DocumentLine, descriptor: EmbedderDescriptor | null): Ready["vectors"] {
  if (vectors === null || descriptor === null) return null;
  if (vectors.model !== descriptor.model || vectors.dimension !== descriptor.dimension) return null;
  const decoded = decodeVectors(vectors);
  for (const [at, vector] of decoded.entries()) {
    const fault = vector === null ? undefined : embeddingFault(vector, descriptor.dimension);
    if (fault !== undefined) throw new ApiError(400, `vectors.data.${at}: ${fault}`, { code: "LINE_INVALID" });
  }
  return decoded;
}

async function storeReady(
  dependencies: ImportDependencies,
  ready: readonly Ready[],
  options: ImportOptions,
  done: Imported,
): Promise<void> {
  const groups = Map.groupBy(ready, ({ source, collection }) =>
    JSON.stringify([source, options.collectionId ?? collection?.name ?? null]),
  );
  for (const group of groups.values()) await storeGroup(dependencies, group, options, done);
}

async function storeGroup(
  dependencies: ImportDependencies,
  group: readonly Ready[],
  options: ImportOptions,
  done: Imported,
): Promise<void> {
  const [{ source, collection }] = group as [Ready];
  const stored = await storeDocuments(dependencies, group, {
    ...{ apiKeyId: options.apiKeyId, source, config: crawlConfigSchema.parse({}) },
    collectionId: options.collectionId ?? (await collectionNamed(dependencies, collection)),
    wantsVectors: dependencies.descriptor !== null,
  }).catch((error: unknown) => {
    if (error instanceof ApiError) return error;
    if (!isRefused(error)) throw error;
    return new ApiError(400, "PostgreSQL cannot hold what the line says", { code: "LINE_INVALID", cause: error });
  });
  if (!(stored instanceof ApiError)) {
    for (const { outcome } of stored.outcomes) done[outcome] += 1;
    await sendWaiting(dependencies, stored.waiting);
    const kept = await keepVectors(dependencies, group, stored);
    done.vectors += kept.vectors;
    done.toEmbed += kept.toEmbed;
  } else if (group.length === 1 || stored.code !== "LINE_INVALID") {
    done.failed.push(...group.map(({ line }) => failure(line, stored)));
  } else {
    // one of them is to blame
    for (const each of group) await storeGroup(dependencies, [each], options, done);
  }
}

/** Of PostgreSQL: what was sent is no such value, or more than fits. */
const isRefused = (error: unknown): boolean => /^(?:22|54)/.test(databaseErrorCode(error) ?? "");

async function collectionNamed(
  { sql }: Pick<ImportDependencies, "sql">,
  collection: DocumentLine["collection"],
): Promise<string | null> {
  if (collection === null) return null;
  const { name, description } = collection;
  await sql`
    insert into collections (id, name, description) values (${uuidv7()}, ${name}, ${description}) on conflict do nothing`;
  const [found] = await sql<{ id: string }[]>`select id from collections where name = ${name}`;
  return found?.id ?? null;
}

/** Stores the vectors that came along as an embedder stores its own, and has those made that did not. */
async function keepVectors(
  dependencies: ImportDependencies,
  group: readonly Ready[],
  { jobId, chunkIds }: StoredGroup,
): Promise<{ vectors: number; toEmbed: number }> {
  const { descriptor, sql, log } = dependencies;
  if (descriptor === null || chunkIds.length === 0) return { vectors: 0, toEmbed: 0 };
  const fresh = new Set(chunkIds);
  const known = new Map<string, Float32Array | null>();
  const brought: string[] = [];
  for (const { document, vectors } of group) {
    for (const [at, { row }] of document.chunks.entries()) {
      const vector = vectors?.[at];
      if (vector === undefined || !fresh.delete(row.id)) continue;
      brought.push(row.id);
      known.set(document.row.content.slice(row.start_char, row.end_char), vector);
    }
  }
  await sendEmbedTasks(dependencies, { jobId, priority: "high" }, [...fresh]);
  try {
    const vectors = brought.length === 0 ? null : await dependencies.vectors();
    const vectorSide = vectors && { embedder: knowing(known, descriptor), vectors };
    for (let at = 0; vectorSide !== null && at < brought.length; at += AT_ONCE) {
      const task = { jobId, chunkIds: brought.slice(at, at + AT_ONCE) };
      await embedChunks({ sql, vectorSide, settleJob, log }, task);
    }
  } catch (error) {
    log.warn("vectors of an import were not stored: the sweep has them made", { error, job_id: jobId });
    return { vectors: 0, toEmbed: chunkIds.length };
  }
  return { vectors: brought.length, toEmbed: fresh.size };
}

/** Chunks of a task. */
const AT_ONCE = 128;

/** An embedder that has read these texts already. */
function knowing(known: ReadonlyMap<string, Float32Array | null>, descriptor: EmbedderDescriptor): Embedder {
  return {
    descriptor,
    embedDocuments: async (texts) => texts.map((text) => known.get(text) ?? null),
    embedQuery: async () => null,
    check: async () => {},
  };
}
