/**
 * Cuts the texts of documents anew, as their collection says by now. Words find the new chunks once the transaction is
 * committed; their vectors follow. A document that would be cut as it is stays untouched.
 */
import { type CollectionDefaults, withCollectionDefaults } from "../crawl/settings/collection-defaults.ts";
import { completeConfig } from "../crawl/settings/crawl-config.ts";
import { type ChunkLimits, chunkText } from "../extract/chunks/chunk.ts";
import { packBlocks, unpackBlocks } from "../extract/chunks/stored-blocks.ts";
import type { Block, Chunk, Section } from "../extract/extraction.ts";
import { type ChunkSet, chunksOfSet, holdChunkSets } from "../knowledge/documents/chunk-sets.ts";
import { insertChunks, type NewChunk, newChunks, requestEmbeddings } from "../knowledge/documents/chunks.ts";
import { chunkLimits, rememberLanguages } from "../knowledge/documents/documents.ts";
import type { Transaction } from "../platform/database/database.ts";

/** Chunks of a job that wait for a vector. */
export interface Waiting {
  jobId: string;
  chunkIds: string[];
}

interface Recut {
  /** Ids of documents. */
  recut: string[];
  waiting: Waiting[];
  /** Ids of the chunks that are gone: the vector store may have points of them still. */
  gone: string[];
}

interface CutDocument {
  id: string;
  jobId: string;
  title: string | null;
  content: string;
  language: string;
  isLanguageAssumed: boolean;
  sections: Section[];
  blocks: number[] | null;
}

/**
 * @param ids of documents that the transaction has locked; those of jobs that have not completed stay as they are
 * @param maxTokens what the embedder reads; null where there is none
 */
export async function recutDocuments(
  tx: Transaction,
  ids: readonly string[],
  defaults: CollectionDefaults,
  maxTokens: number | null,
): Promise<Recut> {
  const documents = await tx<CutDocument[]>`
    select d.id, d.job_id as "jobId", d.title, d.content, d.language, d.is_language_assumed as "isLanguageAssumed",
      d.sections, d.blocks
    from documents d join jobs j on j.id = d.job_id
    where d.id = any(${ids as string[]}::uuid[]) and j.status = 'completed' order by d.id`;
  const sets = await holdChunkSets(tx);
  const own = sets.find(({ chunkSize }) => chunkSize === null);
  const stored = await storedChunks(tx, documents, own ?? sets.find(({ state }) => state === "serving"));
  // where all documents are cut to one size, collections have no say
  const limits = own === undefined ? null : sizesOf(defaults, maxTokens);
  const changed = documents.flatMap((document) => {
    const before = stored.get(document.id) ?? [];
    const language = languageOf(document, defaults);
    const blocks = document.blocks === null ? blocksOf(before) : unpackBlocks(document.blocks);
    const chunks = limits === null ? before : cut(document, blocks, limits);
    return language === document.language && isCutAlike(before, chunks) ? [] : [{ document, blocks, language, chunks }];
  });
  if (changed.length === 0) return { recut: [], waiting: [], gone: [] };
  const recut = changed.map(({ document }) => document.id);
  const gone = await removeChunks(tx, recut);
  await tx`
    update documents d set language = r.language, updated_at = now(),
      is_language_assumed = is_language_assumed or d.language <> r.language, blocks = r.blocks::jsonb
    from unnest(${recut}::uuid[], ${changed.map(({ language }) => language)}::text[],
      ${changed.map(({ blocks }) => JSON.stringify(packBlocks(blocks)))}::text[]) r (id, language, blocks)
    where d.id = r.id`;
  await rememberLanguages(
    tx,
    changed.map(({ language }) => language),
  );
  const made: { jobId: string; chunks: NewChunk[] }[] = [];
  for (const set of sets) {
    const ofSet = changed.map(({ document, blocks, language, chunks }) => {
      const { id, jobId, title, content } = document;
      const cutAsBefore = newChunks({ id, title, text: content, language }, chunks);
      const row = { ...document, language, blocks: packBlocks(blocks) };
      return { jobId, chunks: chunksOfSet({ row, chunks: cutAsBefore }, set) };
    });
    await insertChunks(
      tx,
      recut,
      ofSet.flatMap(({ chunks }) => chunks),
      set.id,
    );
    made.push(...ofSet);
  }
  if (maxTokens === null) return { recut, waiting: [], gone };
  const byJob = Map.groupBy(made, ({ jobId }) => jobId);
  const waiting = [...byJob].map(([jobId, of]) => ({
    jobId,
    chunkIds: of.flatMap(({ chunks }) => chunks.map(({ row }) => row.id)),
  }));
  await requestEmbeddings(
    tx,
    waiting.flatMap(({ chunkIds }) => chunkIds),
  );
  await countWaiting(
    tx,
    waiting.map(({ jobId, chunkIds }) => ({ jobId, chunks: chunkIds.length })),
  );
  return { recut, waiting, gone };
}

/** null: the collection says nothing of them, and chunks stay as they were cut. */
function sizesOf(defaults: CollectionDefaults, maxTokens: number | null): ChunkLimits | null {
  const { chunk_size, chunk_overlap, min_chunk_size } = defaults;
  if (chunk_size === undefined && chunk_overlap === undefined && min_chunk_size === undefined) return null;
  return chunkLimits(completeConfig(withCollectionDefaults({}, defaults)), maxTokens);
}

/** What declares its language, or is long enough to tell, keeps it. */
function languageOf({ language, isLanguageAssumed }: CutDocument, { language: assumed = "und" }: CollectionDefaults) {
  return language === "und" || isLanguageAssumed ? assumed : language;
}

interface StoredRange extends Chunk {
  documentId: string;
}

async function storedChunks(
  tx: Transaction,
  documents: readonly CutDocument[],
  set: ChunkSet | undefined,
): Promise<ReadonlyMap<string, StoredRange[]>> {
  const rows = await tx<StoredRange[]>`
    select document_id as "documentId", chunk_index as index, content, start_char as "startChar", end_char as "endChar",
      token_count as "tokenCount", content_type as "contentType", section_header as "sectionHeader", section
    from chunks where document_id = any(${documents.map(({ id }) => id)}::uuid[]) and chunk_set = ${set?.id ?? 0}
    order by document_id, chunk_index`;
  return Map.groupBy(rows, ({ documentId }) => documentId);
}

const cut = ({ content, sections }: CutDocument, blocks: Block[], limits: ChunkLimits): Chunk[] =>
  chunkText({ text: content, sections, blocks }, limits);

/** Where blocks are not stored: neighbours of one kind other than prose are taken to be one that was cut. */
function blocksOf(chunks: readonly Chunk[]): Block[] {
  const blocks: Block[] = [];
  let last: Block | undefined;
  for (const { contentType: kind, startChar: start, endChar: end } of chunks) {
    if (last !== undefined && last.kind === kind && kind !== "prose") last.end = end;
    else {
      last = { kind, start: Math.max(start, last?.end ?? 0), end };
      blocks.push(last);
    }
  }
  return blocks.filter((block) => block.start < block.end);
}

const isCutAlike = (before: readonly Chunk[], after: readonly Chunk[]): boolean =>
  before.length === after.length &&
  after.every(({ startChar, endChar }, at) => before[at]?.startChar === startChar && before[at].endChar === endChar);

/** @returns their ids; the jobs of those that wait for a vector wait for these no more */
async function removeChunks(tx: Transaction, documentIds: readonly string[]): Promise<string[]> {
  // in the order in which embedders lock them
  const rows = await tx<{ id: string; jobId: string; isWaiting: boolean }[]>`
    select c.id, d.job_id as "jobId", e.state is not distinct from 'pending' as "isWaiting"
    from documents d join chunks c on c.document_id = d.id join embeddings e on e.chunk_id = c.id
    where d.id = any(${documentIds as string[]}::uuid[]) order by c.id for update of e`;
  const waiting = Map.groupBy(
    rows.filter(({ isWaiting }) => isWaiting),
    ({ jobId }) => jobId,
  );
  await countWaiting(
    tx,
    [...waiting].map(([jobId, chunks]) => ({ jobId, chunks: -chunks.length })),
  );
  const gone = await tx<{ id: string }[]>`
    delete from chunks where document_id = any(${documentIds as string[]}::uuid[]) returning id`;
  return gone.map(({ id }) => id);
}

async function countWaiting(tx: Transaction, changes: readonly { jobId: string; chunks: number }[]): Promise<void> {
  if (changes.length === 0) return;
  const sorted = changes.toSorted((a, b) => (a.jobId < b.jobId ? -1 : 1));
  for (const { jobId, chunks } of sorted) {
    await tx`
      update jobs set unembedded_chunks = greatest(0, unembedded_chunks + ${chunks}), updated_at = now() where id = ${jobId}`;
  }
}
