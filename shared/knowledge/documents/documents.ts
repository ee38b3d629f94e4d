/** Makes documents of captures, and writes them into a generation with their sections and chunks. */
import type { Capture } from "../../capture/capture.ts";
import { BOUNDS } from "../../extract/bounds.ts";
import { type ChunkLimits, chunkText } from "../../extract/chunks/chunk.ts";
import { packBlocks } from "../../extract/chunks/stored-blocks.ts";
import type { Chunk, Extraction, Section } from "../../extract/extraction.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { sha256, uuidv7 } from "../../platform/ids.ts";
import { storable } from "../../platform/text.ts";
import { ANALYSIS, chunkVectors, keywordText } from "../analysis/keyword-vectors.ts";

/** The document of one page, ready to be written; offsets count UTF-16 code units of `content`. */
export interface NewDocument {
  row: {
    id: string;
    /** null: nothing was captured. */
    capture_id: number | null;
    /** Normalised final URL, and its SHA-256 in hex: the key within the generation. */
    url: string;
    hash: string;
    domain: string;
    parent_url: string | null;
    title: string | null;
    content: string;
    markdown: string;
    content_hash: string;
    sections: Section[];
    /** See `packBlocks`; null where they are not known. */
    blocks: number[] | null;
    language: string;
    /** Nobody could tell it: the collection says so. */
    is_language_assumed: boolean;
    metadata: Record<string, unknown>;
    links: string[];
    crawled_at: string;
  };
  chunks: NewChunk[];
}

export interface NewChunk {
  row: ChunkRow;
  /** What keyword search finds it by: title, heading and text. */
  words: string;
  language: string;
}

/** The text of a chunk is not sent: it is a stretch of its document's. */
interface ChunkRow {
  id: string;
  document_id: string;
  /** Place among the sections. */
  section: number | null;
  chunk_index: number;
  content_hash: string;
  /** Of the document's text in UTF-8. */
  first_byte: number;
  bytes: number;
  start_char: number;
  end_char: number;
  token_count: number;
  section_header: string | null;
  content_type: string;
}

/** In tokens. */
export interface ChunkSizes {
  chunk_size: number;
  chunk_overlap: number;
  min_chunk_size: number;
}

/** Sizes for an embedder that reads `maxTokens`: overlap and minimum shrink as the size does. null: no embedder. */
export function chunkLimits(sizes: ChunkSizes, maxTokens: number | null) {
  const size = Math.min(sizes.chunk_size, maxTokens ?? sizes.chunk_size);
  const scale = size / sizes.chunk_size;
  return {
    size,
    // an overlap near the size would never move on
    overlap: Math.min(Math.floor(sizes.chunk_overlap * scale), Math.floor(size / 2)),
    minimum: Math.min(Math.floor(sizes.min_chunk_size * scale), size),
    most: BOUNDS.chunks,
  };
}

export interface PageSource {
  capture: Pick<Capture, "fetchedAt"> & { extraction: Extraction };
  captureId: number | null;
  url: string;
  urlHash: string;
  parentUrl: string | null;
  /** Of a page in which no language can be told; left out: it has none. */
  assumedLanguage?: string | undefined;
}

export function documentOf(page: PageSource, limits: ChunkLimits): NewDocument {
  const { extraction, fetchedAt } = page.capture;
  const { title, markdown, sections, blocks, metadata, robots, links } = extraction;
  const text = storable(extraction.text);
  const id = uuidv7();
  const is_language_assumed = extraction.language === "und" && page.assumedLanguage !== undefined;
  const language = is_language_assumed ? (page.assumedLanguage as string) : extraction.language;
  return {
    row: {
      id,
      capture_id: page.captureId,
      url: page.url,
      hash: page.urlHash,
      domain: new URL(page.url).host,
      parent_url: page.parentUrl,
      title,
      content: text,
      markdown,
      content_hash: sha256(text).toString("hex"),
      sections,
      blocks: packBlocks(blocks),
      language,
      is_language_assumed,
      metadata: {
        author: metadata.author,
        description: metadata.description,
        keywords: metadata.keywords,
        og_image: metadata.ogImage,
        publish_date: metadata.publishDate,
      },
      links: robots.nofollow ? [] : links,
      crawled_at: fetchedAt,
    },
    chunks: newChunks({ id, title, text, language }, chunkText({ ...extraction, text }, limits)),
  };
}

/** @param chunks of the document's text, in their order */
export function newChunks(
  { id, title, text, language }: { id: string; title: string | null; text: string; language: string },
  chunks: readonly Chunk[],
): NewChunk[] {
  const byteOf = byteOffsets(
    text,
    chunks.flatMap(({ startChar, endChar }) => [startChar, endChar]),
  );
  return chunks.map(({ content, startChar, endChar, ...chunk }) => ({
    row: {
      id: uuidv7(),
      document_id: id,
      section: chunk.section,
      chunk_index: chunk.index,
      content_hash: sha256(content).toString("hex"),
      first_byte: byteOf(startChar),
      bytes: byteOf(endChar) - byteOf(startChar),
      start_char: startChar,
      end_char: endChar,
      token_count: chunk.tokenCount,
      section_header: chunk.sectionHeader,
      content_type: chunk.contentType,
    },
    words: storable(keywordText(title, chunk.sectionHeader, content)),
    language,
  }));
}

/**
 * Finds where characters stand in the UTF-8 form of a text.
 * @param offsets in UTF-16 code units, none inside a surrogate pair
 * @returns a function from each of them to its bytes
 */
export function byteOffsets(text: string, offsets: readonly number[]): (offset: number) => number {
  if (Buffer.byteLength(text) === text.length) return (offset) => offset;
  const bytes = new Map<number, number>();
  let [at, before] = [0, 0];
  for (const offset of offsets.toSorted((a, b) => a - b)) {
    before += Buffer.byteLength(text.slice(at, offset));
    at = offset;
    bytes.set(offset, before);
  }
  return (offset) => bytes.get(offset) as number;
}

/** Where the documents go. */
export interface IndexTarget {
  jobId: string;
  generationId: string;
  collectionId: string | null;
  /** Lower case. */
  tags: readonly string[];
  /** False where there is no embedder. */
  wantsVectors: boolean;
  /** Left out: "crawl". */
  source?: "crawl" | "upload" | "api";
}

export interface IndexedPages {
  documents: number;
  /** Ids of the new chunks. */
  chunkIds: readonly string[];
}

export const NOTHING_INDEXED: IndexedPages = { documents: 0, chunkIds: [] };

/** Writes the documents that the generation does not have yet: of two pages with one final URL, the first one stays. */
export async function insertDocuments(
  tx: Transaction,
  target: IndexTarget,
  documents: readonly NewDocument[],
): Promise<IndexedPages> {
  if (documents.length === 0) return NOTHING_INDEXED;
  // one order for all transactions, so that two of them that insert the same keys never wait for each other
  const sorted = [...new Map(documents.toReversed().map((each) => [each.row.hash, each])).values()].sort((a, b) =>
    a.row.hash < b.row.hash ? -1 : 1,
  );
  const inserted = await tx<{ id: string }[]>`
    insert into documents (id, generation_id, job_id, collection_id, capture_id, url, url_hash, domain, parent_url, title,
      content, markdown, content_hash, sections, blocks, language, is_language_assumed, metadata, links, crawled_at, source)
    select id, ${target.generationId}, ${target.jobId}, ${target.collectionId}, capture_id, url, decode(hash, 'hex'), domain,
      parent_url, title, content, markdown, decode(content_hash, 'hex'), sections, blocks, language, is_language_assumed, metadata, links, crawled_at, ${target.source ?? "crawl"}
    from json_to_recordset(${rowsOf(sorted.map((each) => each.row))}::text::json) as r (id uuid, capture_id bigint, url text,
      hash text, domain text, parent_url text, title text, content text, markdown text, content_hash text, sections jsonb,
      blocks jsonb, language text, is_language_assumed boolean, metadata jsonb, links text[], crawled_at timestamptz)
    on conflict (generation_id, url_hash) do nothing
    returning id`;
  const ids = new Set(inserted.map((row) => row.id));
  const kept = sorted.filter((each) => ids.has(each.row.id));
  const chunks = kept.flatMap((each) => each.chunks);
  await tagDocuments(tx, [...ids], target.tags);
  await insertChunks(tx, [...ids], chunks);
  await rememberLanguages(
    tx,
    kept.map(({ row }) => row.language),
  );
  const chunkIds = chunks.map(({ row }) => row.id);
  if (target.wantsVectors) await requestEmbeddings(tx, chunkIds);
  return { documents: kept.length, chunkIds };
}

/** A query is read in each of them. In one order for all transactions, as the documents. */
export async function rememberLanguages(tx: Transaction, seen: readonly string[]): Promise<void> {
  const languages = [...new Set(seen)].sort();
  await tx`
    insert into document_languages (language) select seen.language from unnest(${languages}::text[]) as seen (language)
    where not exists (select from document_languages known where known.language = seen.language)
    on conflict do nothing`;
}

/** The texts of the documents are converted once each, not once for each chunk. */
export async function insertChunks(
  tx: Transaction,
  documentIds: readonly string[],
  chunks: readonly NewChunk[],
): Promise<void> {
  if (chunks.length === 0) return;
  const vectors = await chunkVectors(
    tx,
    chunks.map(({ words, language }) => ({ text: words, language })),
  );
  const rows = chunks.map(({ row }, at) => ({ ...row, fts: vectors[at] }));
  await tx`
    with texts as materialized (
      select id, convert_to(content, 'UTF8') as text from documents where id = any(${documentIds as string[]}::uuid[]))
    insert into chunks (id, document_id, section, chunk_index, content, content_hash, start_char, end_char, token_count,
      section_header, content_type, fts, analysis)
    select r.id, d.id, r.section, r.chunk_index, c.content, decode(r.content_hash, 'hex'), r.start_char, r.end_char,
      r.token_count, r.section_header, r.content_type,
      r.fts::tsvector, ${ANALYSIS}
    from json_to_recordset(${rowsOf(rows)}::text::json) as r (id uuid, document_id uuid, section int, chunk_index int,
      content_hash text, first_byte int, bytes int, start_char int, end_char int, token_count int, section_header text,
      content_type text, fts text)
    join texts d on d.id = r.document_id
    cross join lateral (
      select convert_from(substring(d.text from r.first_byte + 1 for r.bytes), 'UTF8') as content offset 0) c`;
}

/** Each of these chunks wants a vector. */
export async function requestEmbeddings(tx: Transaction, chunkIds: readonly string[]): Promise<void> {
  if (chunkIds.length === 0) return;
  await tx`insert into embeddings (chunk_id) select unnest(${chunkIds as string[]}::uuid[])`;
}

/** @param tags names of rows that the job's creation wrote */
export async function tagDocuments(
  tx: Transaction,
  documentIds: readonly string[],
  tags: readonly string[],
): Promise<void> {
  if (tags.length === 0 || documentIds.length === 0) return;
  await tx`
    insert into document_tags (document_id, tag_id)
    select d.id, t.id from unnest(${documentIds as string[]}::uuid[]) d (id) cross join tags t
    where t.name = any(${tags as string[]}::text[])
    on conflict do nothing`;
}
