/** Documents as they are listed and read, with their chunks and their sections. */
import type { Section } from "../extract/extraction.ts";
import { urlBeginsWith } from "../knowledge/search/search-filter.ts";
import type { Sql, Transaction } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import { type CollectionLimit, withinLimit } from "./collection-limit.ts";

export interface ListedDocument {
  id: string;
  url: string;
  domain: string;
  title: string | null;
  language: string;
  source: "crawl" | "upload" | "api";
  collection_id: string | null;
  tags: { id: string; name: string }[];
  metadata: Record<string, unknown>;
  /** Hex SHA-256 of the text. */
  content_hash: string;
  job_id: string | null;
  /** Of the capture that it was made of. */
  capture_id: number | null;
  parent_url: string | null;
  crawled_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
}

export interface StoredDocument extends ListedDocument {
  content: string;
  markdown: string;
  sections: Section[];
  chunks: number;
}

export interface StoredChunk {
  id: string;
  chunk_index: number;
  content: string;
  /** Of the document's text, in UTF-16 code units. */
  start_char: number;
  end_char: number;
  token_count: number;
  section_header: string | null;
  /** Place among the document's sections, from 0. */
  section: number | null;
  content_type: string;
  /** null: it has no vector. */
  embedding_model: string | null;
}

export interface DocumentFilter {
  collection_id?: string | undefined;
  /** Ids or names, all of which a document must have. */
  tags?: readonly string[] | undefined;
  domain?: string | undefined;
  source?: ListedDocument["source"] | undefined;
  language?: string | undefined;
  url?: string | undefined;
  url_prefix?: string | undefined;
  job_id?: string | undefined;
  date_from?: string | undefined;
  date_to?: string | undefined;
  /** Those that were deleted and can be restored, instead of the others. */
  deleted: boolean;
  /** Of whoever asks. */
  limit: CollectionLimit;
}

const LISTED = `d.id, d.url, d.domain, left(d.title, 1000) as title, d.language, d.source, d.collection_id, d.metadata,
  encode(d.content_hash, 'hex') as content_hash, d.job_id, d.capture_id, d.parent_url, d.crawled_at, d.updated_at, d.deleted_at,
  coalesce((select json_agg(json_build_object('id', t.id, 'name', t.name) order by t.name)
    from document_tags dt join tags t on t.id = dt.tag_id where dt.document_id = d.id), '[]') as tags`;

/**
 * Newest first.
 * @param after id of the last document seen
 */
export async function listDocuments(
  sql: Sql,
  filter: DocumentFilter,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<ListedDocument[]> {
  return await sql<ListedDocument[]>`
    select ${sql.unsafe(LISTED)} from ${documentsThatMatch(sql, filter)} ${after === undefined ? sql`` : sql`and d.id < ${after}`}
    order by d.id desc limit ${limit}`;
}

/** As `listDocuments`. */
export async function countDocuments(sql: Sql, filter: DocumentFilter): Promise<number> {
  const [row] = await sql<{ documents: number }[]>`
    select count(*)::int as documents from ${documentsThatMatch(sql, filter)}`;
  return row?.documents ?? 0;
}

/** `documents d where` all that is asked for. */
export const documentsThatMatch = (sql: Sql, filter: DocumentFilter) => sql`documents d
    where d.generation_active and ${filter.deleted ? sql`d.deleted_at is not null` : sql`d.deleted_at is null`}
      ${conditions(sql, filter)}`;

function conditions(sql: Sql, filter: DocumentFilter) {
  const { collection_id, tags, domain, source, language, url, url_prefix, job_id, date_from, date_to, limit } = filter;
  return [
    withinLimit(sql, limit),
    ...(collection_id === undefined ? [] : [sql`and d.collection_id = ${collection_id}`]),
    ...(domain === undefined ? [] : [sql`and d.domain = ${domain}`]),
    ...(source === undefined ? [] : [sql`and d.source = ${source}`]),
    ...(language === undefined ? [] : [sql`and d.language = ${language}`]),
    ...(url === undefined ? [] : [sql`and d.url_hash = sha256(convert_to(${url}, 'UTF8'))`]),
    ...(url_prefix === undefined ? [] : [urlBeginsWith(sql, url_prefix)]),
    ...(job_id === undefined ? [] : [sql`and d.job_id = ${job_id}`]),
    ...(date_from === undefined ? [] : [sql`and d.crawled_at >= ${date_from}::timestamptz`]),
    ...(date_to === undefined ? [] : [sql`and d.crawled_at <= ${date_to}::timestamptz`]),
    ...(tags ?? []).map(
      (tag) => sql`and exists (
        select from document_tags dt join tags t on t.id = dt.tag_id
        where dt.document_id = d.id and (t.id::text = ${tag} or t.name = ${tag}))`,
    ),
  ];
}

/**
 * A document that can be found or restored.
 * @throws ApiError 404 NOT_FOUND, also for one of a generation that was replaced
 */
export async function readDocument(sql: Sql, id: string, limit: CollectionLimit): Promise<StoredDocument> {
  const [row] = await sql<StoredDocument[]>`
    select ${sql.unsafe(LISTED)}, d.content, d.markdown, d.sections,
      (select count(*)::int from chunks_serving c where c.document_id = d.id) as chunks
    from documents d where d.id = ${id} and d.generation_active ${withinLimit(sql, limit)}`;
  if (row === undefined) throw missingDocument(id);
  return row;
}

/** @throws as `readDocument` */
export async function requireDocument(sql: Sql, id: string, limit: CollectionLimit): Promise<void> {
  const [row] = await sql`
    select from documents d where d.id = ${id} and d.generation_active ${withinLimit(sql, limit)}`;
  if (row === undefined) throw missingDocument(id);
}

/**
 * In the order of the text.
 * @param after place of the last chunk seen; -1: none
 */
export async function listChunks(
  sql: Sql,
  documentId: string,
  { limit, after }: { limit: number; after: number },
): Promise<StoredChunk[]> {
  return await sql<StoredChunk[]>`
    select c.id, chunk_index, content, start_char, end_char, token_count, left(section_header, 1000) as section_header,
      section, content_type, case when e.state = 'done' then e.model end as embedding_model
    from chunks_serving c left join embeddings e on e.chunk_id = c.id
    where c.document_id = ${documentId} and chunk_index > ${after} order by chunk_index limit ${limit}`;
}

export const missingDocument = (id: string) =>
  new ApiError(404, `There is no document ${id}: it may have been replaced by a newer one of its URL`, {
    code: "NOT_FOUND",
  });

/** Documents, locked in the order of their ids; those that are gone, replaced or out of reach are not among them. */
export async function lockDocuments(
  tx: Transaction,
  ids: readonly string[],
  limit: CollectionLimit,
): Promise<{ id: string; url: string; collection_id: string | null; deleted_at: Date | null }[]> {
  return await tx`
    select id, url, collection_id, deleted_at from documents d
    where id = any(${ids as string[]}::uuid[]) and generation_active ${withinLimit(tx, limit)}
    order by id for no key update`;
}
