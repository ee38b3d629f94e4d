/** A page that is not fetched anew, since the server calls it unmodified or it was fetched a moment ago: its document is copied. */
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { uuidv7 } from "../../platform/ids.ts";
import {
  type IndexedPages,
  type IndexTarget,
  NOTHING_INDEXED,
  requestEmbeddings,
  tagDocuments,
} from "../documents/documents.ts";

export interface ActiveDocument {
  id: string;
  /** Hex. */
  urlHash: string;
  links: string[];
}

/** The active documents of these URLs in a collection, by URL hash. @param hashes hex */
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
 * Copies active documents with their sections and chunks into the shelf's generation and collection. The copy keeps the capture that holds the body. Its chunks want vectors of
 * their own, which the embedding cache has.
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
      content, markdown, content_hash, language, source, metadata, links, crawled_at)
    select r.id, ${target.generationId}, ${target.jobId}, ${target.collectionId}::uuid, d.capture_id, d.url, d.url_hash, d.domain,
      r."parentUrl", d.title, d.content, d.markdown, d.content_hash, d.language, d.source, d.metadata, d.links, r."crawledAt"
    from json_to_recordset(${rowsOf(rows)}::text::json) as r (id uuid, old uuid, "parentUrl" text, "crawledAt" timestamptz)
    join documents d on d.id = r.old
    order by d.url_hash
    on conflict (generation_id, url_hash) do nothing
    returning id`;
  const copied = new Set(inserted.map((row) => row.id));
  const documents = rows.filter((row) => copied.has(row.id));
  await tagDocuments(tx, [...copied], target.tags);
  const sections = await copySections(tx, documents);
  const chunkIds = await copyChunks(tx, documents, sections, target.wantsVectors);
  return { documents: documents.length, chunkIds };
}

/** A row's id, and that of its copy. */
interface Renamed {
  old: string;
  id: string;
}

async function copySections(tx: Transaction, documents: readonly Renamed[]): Promise<Renamed[]> {
  const sections = await tx<{ old: string }[]>`
    select id as old from sections where document_id = any(${documents.map((each) => each.old)}::uuid[])`;
  const renamed = sections.map(({ old }) => ({ old, id: uuidv7() }));
  await tx`
    insert into sections (id, document_id, parent_section_id, heading, level, content, position)
    select r.id, d.id, p.id, s.heading, s.level, s.content, s.position
    from json_to_recordset(${rowsOf(renamed)}::text::json) as r (id uuid, old uuid)
    join sections s on s.id = r.old
    join json_to_recordset(${rowsOf(documents)}::text::json) as d (id uuid, old uuid) on d.old = s.document_id
    left join json_to_recordset(${rowsOf(renamed)}::text::json) as p (id uuid, old uuid) on p.old = s.parent_section_id`;
  return renamed;
}

async function copyChunks(
  tx: Transaction,
  documents: readonly Renamed[],
  sections: readonly Renamed[],
  wantVectors: boolean,
): Promise<string[]> {
  const chunks = await tx<{ old: string }[]>`
    select id as old from chunks where document_id = any(${documents.map((each) => each.old)}::uuid[])
    order by document_id, chunk_index`;
  const renamed = chunks.map(({ old }) => ({ old, id: uuidv7() }));
  await tx`
    insert into chunks (id, document_id, section_id, chunk_index, content, content_hash, start_char, end_char, token_count,
      section_header, content_type, fts)
    select r.id, d.id, s.id, c.chunk_index, c.content, c.content_hash, c.start_char, c.end_char, c.token_count,
      c.section_header, c.content_type, c.fts
    from json_to_recordset(${rowsOf(renamed)}::text::json) as r (id uuid, old uuid)
    join chunks c on c.id = r.old
    join json_to_recordset(${rowsOf(documents)}::text::json) as d (id uuid, old uuid) on d.old = c.document_id
    left join json_to_recordset(${rowsOf(sections)}::text::json) as s (id uuid, old uuid) on s.old = c.section_id`;
  if (wantVectors) await requestEmbeddings(tx, renamed);
  return renamed.map((chunk) => chunk.id);
}
