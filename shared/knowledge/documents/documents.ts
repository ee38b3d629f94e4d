/** Makes documents of captures, and writes them into a generation with their sections and chunks. */
import type { Capture } from "../../capture/capture.ts";
import { BOUNDS } from "../../extract/bounds.ts";
import type { ChunkLimits } from "../../extract/chunks/chunk.ts";
import { packBlocks } from "../../extract/chunks/stored-blocks.ts";
import type { Extraction, Section } from "../../extract/extraction.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { sha256, uuidv7 } from "../../platform/ids.ts";
import { storable } from "../../platform/text.ts";
import { chunksOfSet, holdChunkSets } from "./chunk-sets.ts";
import { cutIntoChunks, insertChunks, type NewChunk, requestEmbeddings } from "./chunks.ts";

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
    chunks: cutIntoChunks({ ...extraction, id, text, language }, limits),
  };
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
  /** The API key that uploads them, to which their bytes are counted. */
  uploadedBy?: string | null;
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
      content, markdown, content_hash, sections, blocks, language, is_language_assumed, metadata, links, crawled_at, source,
      uploaded_by, upload_bytes)
    select id, ${target.generationId}, ${target.jobId}, ${target.collectionId}, capture_id, url, decode(hash, 'hex'), domain,
      parent_url, title, content, markdown, decode(content_hash, 'hex'), sections, blocks, language, is_language_assumed, metadata, links, crawled_at, ${target.source ?? "crawl"},
      ${target.uploadedBy ?? null}::uuid, case when ${(target.uploadedBy ?? null) !== null} then octet_length(content) + octet_length(markdown) end
    from json_to_recordset(${rowsOf(sorted.map((each) => each.row))}::text::json) as r (id uuid, capture_id bigint, url text,
      hash text, domain text, parent_url text, title text, content text, markdown text, content_hash text, sections jsonb,
      blocks jsonb, language text, is_language_assumed boolean, metadata jsonb, links text[], crawled_at timestamptz)
    on conflict (generation_id, url_hash) do nothing
    returning id`;
  const ids = new Set(inserted.map((row) => row.id));
  const kept = sorted.filter((each) => ids.has(each.row.id));
  await tagDocuments(tx, [...ids], target.tags);
  const chunks: NewChunk[] = [];
  for (const set of await holdChunkSets(tx)) {
    const ofSet = kept.flatMap((each) => chunksOfSet(each, set));
    await insertChunks(tx, [...ids], ofSet, set.id);
    chunks.push(...ofSet);
  }
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
