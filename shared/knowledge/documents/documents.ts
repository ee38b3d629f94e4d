/** Documents: the searchable side of captures, always inside a generation. */
import type { Capture } from "../../capture/capture.ts";
import { chunkText } from "../../extract/chunks/chunk.ts";
import type { Extraction } from "../../extract/extraction.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { sha256, uuidv7 } from "../../platform/ids.ts";

/** The document of one page, ready to be written; offsets count UTF-16 code units of `content`. */
export interface NewDocument {
  row: {
    id: string;
    capture_id: number;
    /** Normalised final URL, and its SHA-256 in hex: the key within the generation. */
    url: string;
    hash: string;
    domain: string;
    parent_url: string | null;
    title: string | null;
    content: string;
    markdown: string;
    content_hash: string;
    language: string;
    metadata: Record<string, unknown>;
    links: string[];
    crawled_at: string;
  };
  sections: SectionRow[];
  chunks: ChunkRow[];
}

interface SectionRow {
  id: string;
  document_id: string;
  parent_section_id: string | null;
  heading: string | null;
  level: number;
  content: string;
  position: number;
}

interface ChunkRow {
  id: string;
  document_id: string;
  section_id: string | null;
  chunk_index: number;
  title: string | null;
  content: string;
  content_hash: string;
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
  };
}

/**
 * Whether a page becomes searchable; every page is archived. Not if it asks not to be indexed, has no text, or is in a
 * language that the job does not want. A page whose language nobody can tell is kept.
 */
export function isIndexable(extraction: Extraction, languages: readonly string[]): boolean {
  const { language, robots, text } = extraction;
  if (robots.noindex || text.trim() === "") return false;
  return language === "und" || languages.includes("*") || languages.includes(language);
}

export interface PageSource {
  capture: Capture & { extraction: Extraction };
  captureId: number;
  url: string;
  urlHash: string;
  parentUrl: string | null;
}

export function documentOf(page: PageSource, limits: ReturnType<typeof chunkLimits>): NewDocument {
  const { extraction, fetchedAt } = page.capture;
  const { title, text, markdown, language, metadata, robots, links } = extraction;
  const id = uuidv7();
  const sections = extraction.sections.map((section, position) => ({
    id: uuidv7(),
    document_id: id,
    parent: section.parent,
    heading: section.heading,
    level: section.level,
    content: text.slice(section.start, section.end),
    position,
  }));
  const sectionId = (index: number | null) => (index === null ? null : (sections[index]?.id ?? null));
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
      language,
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
    sections: sections.map(({ parent, ...row }) => ({ ...row, parent_section_id: sectionId(parent) })),
    chunks: chunkText(extraction, limits).map((chunk) => ({
      id: uuidv7(),
      document_id: id,
      section_id: sectionId(chunk.section),
      chunk_index: chunk.index,
      title,
      content: chunk.content,
      content_hash: sha256(chunk.content).toString("hex"),
      start_char: chunk.startChar,
      end_char: chunk.endChar,
      token_count: chunk.tokenCount,
      section_header: chunk.sectionHeader,
      content_type: chunk.contentType,
    })),
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
      content, markdown, content_hash, language, metadata, links, crawled_at)
    select id, ${target.generationId}, ${target.jobId}, ${target.collectionId}, capture_id, url, decode(hash, 'hex'), domain,
      parent_url, title, content, markdown, decode(content_hash, 'hex'), language, metadata, links, crawled_at
    from json_to_recordset(${rowsOf(sorted.map((each) => each.row))}::text::json) as r (id uuid, capture_id bigint, url text,
      hash text, domain text, parent_url text, title text, content text, markdown text, content_hash text, language text,
      metadata jsonb, links text[], crawled_at timestamptz)
    on conflict (generation_id, url_hash) do nothing
    returning id`;
  const ids = new Set(inserted.map((row) => row.id));
  const kept = sorted.filter((each) => ids.has(each.row.id));
  const sections = kept.flatMap((each) => each.sections);
  const chunks = kept.flatMap((each) => each.chunks);
  await Promise.all([insertSections(tx, sections), tagDocuments(tx, [...ids], target.tags)]);
  await insertChunks(tx, chunks);
  if (target.wantsVectors) await requestEmbeddings(tx, chunks);
  return { documents: kept.length, chunkIds: chunks.map((chunk) => chunk.id) };
}

async function insertSections(tx: Transaction, sections: readonly SectionRow[]): Promise<void> {
  if (sections.length === 0) return;
  await tx`
    insert into sections (id, document_id, parent_section_id, heading, level, content, position)
    select id, document_id, parent_section_id, heading, level, content, position
    from json_to_recordset(${rowsOf(sections)}::text::json) as r (id uuid, document_id uuid, parent_section_id uuid,
      heading text, level int, content text, position int)`;
}

async function insertChunks(tx: Transaction, chunks: readonly ChunkRow[]): Promise<void> {
  if (chunks.length === 0) return;
  await tx`
    insert into chunks (id, document_id, section_id, chunk_index, content, content_hash, start_char, end_char, token_count,
      section_header, content_type, fts)
    select id, document_id, section_id, chunk_index, content, decode(content_hash, 'hex'), start_char, end_char, token_count,
      section_header, content_type, chunk_fts(title, section_header, content)
    from json_to_recordset(${rowsOf(chunks)}::text::json) as r (id uuid, document_id uuid, section_id uuid, chunk_index int,
      title text, content text, content_hash text, start_char int, end_char int, token_count int, section_header text,
      content_type text)`;
}

/** Each of these chunks wants a vector. */
export async function requestEmbeddings(tx: Transaction, chunks: readonly { id: string }[]): Promise<void> {
  if (chunks.length === 0) return;
  await tx`
    insert into embeddings (chunk_id)
    select id from unnest(${chunks.map((chunk) => chunk.id)}::uuid[]) as c (id)`;
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
