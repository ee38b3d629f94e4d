/** Writes captures as rows: every observation of a URL, those without an answer included. */
import type { Capture } from "../../capture/capture.ts";
import { whyNotIndexed } from "../../knowledge/documents/not-indexed.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import type { JobRow } from "../jobs/lifecycle.ts";
import { urlKey } from "../urls/surt.ts";
import type { KeyedPage } from "./captured-page.ts";

/** @returns the pages with the ids of their rows */
export async function insertCaptures<Page extends Omit<KeyedPage, "url">>(
  tx: Transaction,
  { id: jobId, settings: { config } }: JobRow,
  batchKey: string,
  pages: readonly Page[],
): Promise<(Page & { captureId: number })[]> {
  const rows = pages.map(({ capture, index, finalHash, textKey = null }) => ({
    url: capture.url,
    hash: capture.urlHash,
    final_url: capture.finalUrl,
    url_key: capture.warc === null ? null : urlKey(capture.finalUrl),
    final_hash: finalHash,
    canonical_url: capture.extraction?.canonicalUrl ?? null,
    redirects: capture.redirects,
    depth: capture.depth,
    status_code: capture.status,
    headers: capture.headers,
    mime_type: capture.mimeType,
    charset: capture.charset,
    language: capture.extraction?.language ?? null,
    title: capture.extraction?.title ?? null,
    etag: headerOf(capture, "etag"),
    last_modified: headerOf(capture, "last-modified"),
    fetched_at: capture.fetchedAt,
    fetch_time_ms: capture.fetchTimeMs,
    payload_bytes: capture.payloadBytes,
    payload_digest: capture.payloadDigest,
    truncated: capture.truncated,
    disallowed: capture.disallowed ?? false,
    not_modified: capture.notModified,
    error_code: capture.error?.code ?? null,
    error_message: capture.error?.message ?? null,
    error_retryable: capture.error?.retryable ?? null,
    warc_key: capture.warc?.key ?? null,
    warc_offset: capture.warc?.offset ?? null,
    warc_length: capture.warc?.length ?? null,
    warc_record_id: capture.warc?.recordId ?? null,
    warc_coding: capture.warc?.coding ?? null,
    warc_inner: capture.warc?.inner ?? null,
    refers_to: capture.refersTo ?? null,
    stated_digest: capture.statedDigest ?? null,
    revisit_of: capture.revisitOf,
    rendered: capture.rendered,
    batch_index: index,
    text_key: textKey,
    not_indexed:
      capture.error !== null || capture.notModified ? null : whyNotIndexed(capture.extraction, config.languages),
  }));
  const inserted = await tx<{ id: number; index: number }[]>`
    insert into captures (job_id, batch_key, url, url_hash, final_url, final_url_hash, canonical_url, redirects, depth, status_code, headers,
      mime_type, charset, language, title, etag, last_modified, fetched_at, fetch_time_ms, payload_bytes, payload_digest,
      truncated, not_modified, error_code, error_message, error_retryable, warc_key, warc_offset, warc_length, url_key,
      warc_record_id, warc_coding, warc_inner, refers_to, stated_digest, revisit_of, rendered, batch_index, text_key, not_indexed, disallowed)
    select ${jobId}, ${batchKey}, url, decode(hash, 'hex'), final_url, decode(final_hash, 'hex'), canonical_url, redirects, depth, status_code, headers,
      mime_type, charset, language, title, etag, last_modified, fetched_at, fetch_time_ms, payload_bytes, payload_digest,
      truncated, not_modified, error_code, error_message, error_retryable, warc_key, warc_offset, warc_length, url_key,
      warc_record_id, warc_coding, warc_inner, refers_to, stated_digest, revisit_of, rendered, batch_index, decode(text_key, 'hex'), not_indexed, disallowed
    from json_to_recordset(${rowsOf(rows)}::text::json) as r (url text, hash text, final_url text, final_hash text, canonical_url text,
      redirects jsonb, depth int, status_code int, headers jsonb, mime_type text, charset text, language text, title text,
      etag text, last_modified text, fetched_at timestamptz, fetch_time_ms float8, payload_bytes bigint,
      payload_digest text, truncated boolean, not_modified boolean, error_code text, error_message text,
      error_retryable boolean, warc_key text, warc_offset bigint, warc_length bigint, url_key text, warc_record_id text,
      warc_coding text, warc_inner bigint, refers_to jsonb, stated_digest text,
      revisit_of bigint, rendered jsonb, batch_index int, text_key text, not_indexed text, disallowed boolean)
    returning id, batch_index as index`;
  const ids = new Map(inserted.map(({ index, id }) => [index, id]));
  return pages.map((page) => ({ ...page, captureId: ids.get(page.index) as number }));
}

function headerOf(capture: Capture, name: string): string | null {
  return capture.headers.find(([each]) => each === name)?.[1] ?? null;
}
