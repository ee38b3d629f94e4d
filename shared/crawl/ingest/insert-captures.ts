/**
 * Writes captures as rows: every observation of a URL, those without an answer included, and those that repeat an
 * earlier one.
 */
import type { Capture } from "../../capture/capture.ts";
import { whyNotIndexed } from "../../knowledge/documents/not-indexed.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import type { JobRow } from "../jobs/lifecycle.ts";
import { urlKey } from "../urls/surt.ts";
import type { KeyedPage } from "./captured-page.ts";

/** All columns but the id. Whoever writes a capture fills in each of them. */
const COLUMNS = [
  "job_id",
  "url",
  "url_hash",
  "final_url",
  "final_url_hash",
  "url_key",
  "canonical_url",
  "redirects",
  "depth",
  "status_code",
  "headers",
  "mime_type",
  "charset",
  "language",
  "title",
  "etag",
  "last_modified",
  "fetched_at",
  "fetch_time_ms",
  "payload_bytes",
  "payload_digest",
  "truncated",
  "disallowed",
  "not_modified",
  "error_code",
  "error_message",
  "error_retryable",
  "warc_key",
  "warc_offset",
  "warc_length",
  "warc_record_id",
  "warc_coding",
  "warc_inner",
  "refers_to",
  "stated_digest",
  "revisit_of",
  "reused_from",
  "rendered",
  "batch_key",
  "batch_index",
  "text_key",
  "not_indexed",
] as const;
const COLUMN_LIST = COLUMNS.join(", ");
type CaptureRow = Record<(typeof COLUMNS)[number], unknown>;

/** @returns the pages with the ids of their rows */
export async function insertCaptures<Page extends Omit<KeyedPage, "url">>(
  tx: Transaction,
  { id: jobId, settings: { config } }: JobRow,
  batchKey: string,
  pages: readonly Page[],
): Promise<(Page & { captureId: number })[]> {
  const rows = pages.map(
    ({ capture, index, finalHash, textKey = null }): CaptureRow => ({
      job_id: jobId,
      url: capture.url,
      url_hash: bytesOf(capture.urlHash),
      final_url: capture.finalUrl,
      final_url_hash: bytesOf(finalHash),
      url_key: capture.warc === null ? null : urlKey(capture.finalUrl),
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
      reused_from: null,
      rendered: capture.rendered,
      batch_key: batchKey,
      batch_index: index,
      text_key: textKey === null ? null : bytesOf(textKey),
      not_indexed:
        capture.error !== null || capture.notModified ? null : whyNotIndexed(capture.extraction, config.languages),
    }),
  );
  const inserted = await tx<{ id: number; index: number }[]>`
    insert into captures (${tx.unsafe(COLUMN_LIST)})
    select ${tx.unsafe(COLUMN_LIST)} from json_populate_recordset(null::captures, ${rowsOf(rows)}::text::json)
    returning id, batch_index as index`;
  const ids = new Map(inserted.map(({ index, id }) => [index, id]));
  return pages.map((page) => ({ ...page, captureId: ids.get(page.index) as number }));
}

/** A capture that stands for another request, of the URL as it was asked for. */
export interface Repeated {
  captureId: number;
  url: { url: string; depth: number };
}

/**
 * Writes captures of the job that repeat the given ones: when the page was seen stays as it was, no time was spent on
 * it, and `reused_from` names the capture of the request.
 * @returns their ids, by URL hash
 */
export async function repeatCaptures(
  tx: Transaction,
  jobId: string,
  repeated: readonly Repeated[],
): Promise<Map<string, number>> {
  if (repeated.length === 0) return new Map();
  const rows = repeated.map(({ captureId, url: { url, depth } }) => ({
    id: captureId,
    changed: { job_id: jobId, url, depth, fetch_time_ms: 0 } satisfies Partial<CaptureRow>,
  }));
  const inserted = await tx<{ id: number; hash: string }[]>`
    insert into captures (${tx.unsafe(COLUMN_LIST)})
    select ${tx.unsafe(COLUMN_LIST)} from (
      select (json_populate_record(c, (r.changed || jsonb_build_object('reused_from', coalesce(c.reused_from, c.id)))::json)).*
      from json_to_recordset(${rowsOf(rows)}::text::json) as r (id bigint, changed jsonb) join captures c on c.id = r.id
      order by r.id) repeats
    returning id, encode(url_hash, 'hex') as hash`;
  return new Map(inserted.map((row) => [row.hash, row.id]));
}

/** Hexadecimal digits as JSON has them for a column of bytes. */
const bytesOf = (hex: string): string => `\\x${hex}`;

function headerOf(capture: Capture, name: string): string | null {
  return capture.headers.find(([each]) => each === name)?.[1] ?? null;
}
