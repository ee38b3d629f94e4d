/**
 * Copies documents of pages that are not fetched anew: the server calls them unmodified, or they were fetched a moment
 * ago.
 */
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { uuidv7 } from "../../platform/ids.ts";
import { holdChunkSets } from "../documents/chunk-sets.ts";
import { requestEmbeddings } from "../documents/chunks.ts";
import { type IndexedPages, type IndexTarget, NOTHING_INDEXED, tagDocuments } from "../documents/documents.ts";

export interface ActiveDocument {
  id: string;
  /** Hex. */
  urlHash: string;
  links: string[];
}

/**
 * The active documents of these URLs in a collection, by URL hash.
 * @param hashes hex
 */
export async function findActiveDocuments(
  tx: Transaction,
  collectionId: string | null,
  hashes: readonly string[],
): Promise<Map<string, ActiveDocument>> {
  if (hashes.length === 0) return new Map();
  const rows = await tx<ActiveDocument[]>`
    select d.id, encode(d.url_hash, 'hex') as "urlHash", d.links
    from unnest(${hashes as string[]}::text[]) h join documents d on d.url_hash = decode(h, 'hex')
    where d.generation_active and d.deleted_at is null
      and coalesce(d.collection_id, '00000000-0000-0000-0000-000000000000')
        = coalesce(${collectionId}::uuid, '00000000-0000-0000-0000-000000000000')`;
  return new Map(rows.map((row) => [row.urlHash, row]));
}

export interface CarriedOver {
  document: ActiveDocument;
  parentUrl: string | null;
  /** When the page was seen to be so, ISO 8601. */
  crawledAt: string;
}

/**
 * Copies active documents with their chunks into the target's generation and collection. The copy keeps the capture
 * that holds the body. Its chunks want vectors of their own, which the embedding cache has.
 */
export async function carryOver(
  tx: Transaction,
  target: IndexTarget,
  carried: readonly CarriedOver[],
): Promise<IndexedPages> {
  if (carried.length === 0) return NOTHING_INDEXED;
  const rows = carried
    .toSorted((a, b) => (a.document.urlHash < b.document.urlHash ? -1 : 1))
    .map(({ document, parentUrl, crawledAt }) => ({ id: uuidv7(), old: document.id, parentUrl, crawledAt }));
  const inserted = await tx<{ id: string }[]>`
    insert into documents (id, generation_id, job_id, collection_id, capture_id, url, url_hash, domain, parent_url, title,
      content, markdown, content_hash, sections, blocks, language, is_language_assumed, source, metadata, links, crawled_at)
    select r.id, ${target.generationId}, ${target.jobId}, ${target.collectionId}::uuid, d.capture_id, d.url, d.url_hash, d.domain,
      r."parentUrl", d.title, d.content, d.markdown, d.content_hash, d.sections, d.blocks, d.language, d.is_language_assumed, d.source, d.metadata, d.links, r."crawledAt"
    from json_to_recordset(${rowsOf(rows)}::text::json) as r (id uuid, old uuid, "parentUrl" text, "crawledAt" timestamptz)
    join documents d on d.id = r.old
    order by d.url_hash
    on conflict (generation_id, url_hash) do nothing
    returning id`;
  const copied = new Set(inserted.map((row) => row.id));
  const documents = rows.filter((row) => copied.has(row.id));
  await tagDocuments(tx, [...copied], target.tags);
  const chunkIds = await copyChunks(tx, documents);
  if (target.wantsVectors) await requestEmbeddings(tx, chunkIds);
  return { documents: documents.length, chunkIds };
}

/** A row's id, and that of its copy. */
interface Renamed {
  old: string;
  id: string;
}

async function copyChunks(tx: Transaction, documents: readonly Renamed[]): Promise<string[]> {
  const sets = await holdChunkSets(tx);
  const chunks = await tx<{ old: string }[]>`
    select id as old from chunks where document_id = any(${documents.map((each) => each.old)}::uuid[])
      and chunk_set = any(${sets.map(({ id }) => id)}::smallint[])
    order by document_id, chunk_index`;
  const renamed = chunks.map(({ old }) => ({ old, id: uuidv7() }));
  await tx`
    insert into chunks (id, document_id, section, chunk_index, content, content_hash, start_char, end_char, token_count,
      section_header, content_type, fts, analysis, chunk_set)
    select r.id, d.id, c.section, c.chunk_index, c.content, c.content_hash, c.start_char, c.end_char, c.token_count,
      c.section_header, c.content_type, c.fts, c.analysis, c.chunk_set
    from json_to_recordset(${rowsOf(renamed)}::text::json) as r (id uuid, old uuid)
    join chunks c on c.id = r.old
    join json_to_recordset(${rowsOf(documents)}::text::json) as d (id uuid, old uuid) on d.old = c.document_id`;
  return renamed.map((chunk) => chunk.id);
}
