/** Chunks: a document's text in pieces that an embedder can read, with the words that find them. */
import { type ChunkLimits, chunkText } from "../../extract/chunks/chunk.ts";
import type { Chunk, Extraction } from "../../extract/extraction.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { sha256, uuidv7 } from "../../platform/ids.ts";
import { storable } from "../../platform/text.ts";
import { ANALYSIS, chunkVectors, keywordText } from "../analysis/keyword-vectors.ts";

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

/** What is cut: a document's text, which chunks are stretches of. */
export interface CutText extends Pick<Extraction, "text" | "title" | "language" | "sections" | "blocks"> {
  /** Of the document. */
  id: string;
}

export const cutIntoChunks = (document: CutText, limits: ChunkLimits): NewChunk[] =>
  newChunks(document, chunkText(document, limits));

/** @param chunks of the document's text, in their order */
export function newChunks(
  { id, title, text, language }: Pick<CutText, "id" | "title" | "text" | "language">,
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

/** The texts of the documents are converted once each, not once for each chunk. */
export async function insertChunks(
  tx: Transaction,
  documentIds: readonly string[],
  chunks: readonly NewChunk[],
  chunkSet: number,
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
      section_header, content_type, fts, analysis, chunk_set)
    select r.id, d.id, r.section, r.chunk_index, c.content, decode(r.content_hash, 'hex'), r.start_char, r.end_char,
      r.token_count, r.section_header, r.content_type,
      r.fts::tsvector, ${ANALYSIS}, ${chunkSet}
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
