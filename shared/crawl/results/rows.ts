/**
 * The results of a job as rows: each URL that ended, in the order in which that became known, with its final capture.
 */
import type { Rendering } from "../../capture/capture.ts";
import type { RecordPointer } from "../../capture/warc-reader.ts";
import { type ContentSelection, MAIN_CONTENT } from "../../extract/content/selection.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { type NoDocument, noDocument } from "../jobs/no-document.ts";

export interface ResultRow {
  /** `result_seq`: 1, 2, 3 … within the job, in the order of commits. */
  cursor: number;
  url: string;
  depth: number;
  state: "crawled" | "failed" | "skipped";
  errorCode: string | null;
  noDocument: NoDocument | null;
  /** When the URL was to be tried last: all that is known of one that ended without a capture. */
  dueAt: Date;
  /**
   * The final capture, then what it refers to: the last one holds the response. Empty where a URL was given up unseen.
   */
  captures: readonly ResultCapture[];
}

export interface ResultCapture {
  id: number;
  finalUrl: string;
  /** Hex, as is `finalUrlHash`: of the normalised URLs. */
  urlHash: string;
  finalUrlHash: string;
  canonicalUrl: string | null;
  status: number;
  mimeType: string | null;
  charset: string | null;
  title: string | null;
  fetchedAt: Date;
  fetchTimeMs: number;
  truncated: boolean;
  /** Asked for although robots.txt forbids it. */
  disallowed: boolean;
  /** Of the body as it was sent. */
  payloadBytes: number;
  notModified: boolean;
  errorCode: string | null;
  errorMessage: string | null;
  /** Whether its job selected the same of a page: else its text is not what this job wants. */
  sameSelection: boolean;
  batchKey: string;
  batchIndex: number;
  warc: RecordPointer | null;
  /** What opened it, or was to open it, besides fetch. */
  rendered: RenderingView | null;
  /** The DOM, where the page was opened in a browser. */
  dom: RecordPointer | null;
}

export interface RenderingView extends Pick<Rendering, "reason" | "renderer"> {
  errorCode: string | null;
  errorMessage: string | null;
}

/** Revisits refer to originals; more steps than this are a circle. */
const MAX_HOPS = 8;

export interface ResultJob {
  id: string;
  generationId: string;
  /** What of a page is its content; left out: its main content. */
  selection?: ContentSelection;
}

/** @param after cursor of the last row seen, 0 for none */
export async function readResultRows(
  sql: Queryable,
  job: ResultJob,
  { after, limit }: { after: number; limit: number },
): Promise<ResultRow[]> {
  const rows = await sql<(Omit<ResultRow, "captures"> & { captureId: number | null })[]>`
    select f.result_seq as cursor, f.url, f.depth, f.state, f.error_code as "errorCode", ${noDocument(sql)} as "noDocument",
      f.not_before as "dueAt", f.capture_id as "captureId"
    from frontier f join jobs j on j.id = f.job_id left join captures c on c.id = f.capture_id
    where f.job_id = ${job.id} and f.result_seq > ${after}
    order by f.result_seq limit ${limit}`;
  const captures = await readChains(
    sql,
    job,
    rows.flatMap(({ captureId }) => captureId ?? []),
  );
  return rows.map(({ captureId, ...row }) => ({ ...row, captures: captures.get(captureId ?? 0) ?? [] }));
}

/**
 * Captures and what they refer to, by the id of the first. A page that is unmodified refers to what its document came
 * from.
 */
async function readChains(
  sql: Queryable,
  { generationId, selection = MAIN_CONTENT }: ResultJob,
  ids: readonly number[],
): Promise<Map<number, ResultCapture[]>> {
  if (ids.length === 0) return new Map();
  const found = await sql<(ResultCapture & { first: number })[]>`
    with recursive chain (first, id, hops) as (
      select id, id, 0 from unnest(${ids as number[]}::bigint[]) as ids (id)
      union all
      select chain.first, coalesce(c.revisit_of, c.reused_from, d.capture_id), chain.hops + 1
      from chain join captures c on c.id = chain.id
      left join documents d
        on c.not_modified and d.generation_id = ${generationId} and d.url_hash = c.final_url_hash
      where coalesce(c.revisit_of, c.reused_from, d.capture_id) <> c.id and chain.hops < ${MAX_HOPS})
    select chain.first, c.id, c.final_url as "finalUrl", encode(c.url_hash, 'hex') as "urlHash",
      encode(c.final_url_hash, 'hex') as "finalUrlHash", c.canonical_url as "canonicalUrl", c.status_code as status,
      c.mime_type as "mimeType", c.charset, left(c.title, 1000) as title, c.fetched_at as "fetchedAt", c.fetch_time_ms as "fetchTimeMs",
      c.truncated, c.disallowed, c.payload_bytes as "payloadBytes", c.not_modified as "notModified", c.error_code as "errorCode", c.error_message as "errorMessage",
      ${isSameSelection(sql, selection)} as "sameSelection", c.batch_key as "batchKey", c.batch_index as "batchIndex", ${pointer(sql)} as warc,
      case when jsonb_typeof(c.rendered->'warc') = 'object' then c.rendered->'warc' end as dom,
      case when jsonb_typeof(c.rendered) = 'object' then jsonb_build_object(
        'reason', c.rendered->'reason', 'renderer', c.rendered->'renderer',
        'errorCode', c.rendered->'error'->'code', 'errorMessage', c.rendered->'error'->'message') end as rendered
    from chain join captures c on c.id = chain.id join jobs j on j.id = c.job_id
    order by chain.first, chain.hops`;
  const chains = new Map<number, ResultCapture[]>();
  for (const { first, ...capture } of found) {
    const chain = chains.get(first);
    if (chain === undefined) chains.set(first, [capture]);
    else if (!chain.some(({ id }) => id === capture.id)) chain.push(capture);
  }
  return chains;
}

/** Of the job `j`; a job from before there were such settings took the main content. */
const isSameSelection = (sql: Queryable, { include, exclude, mainOnly }: ContentSelection) => sql`
  jsonb_build_array(coalesce(j.settings->'config'->'include_selectors', '[]'),
    coalesce(j.settings->'config'->'exclude_selectors', '[]'),
    coalesce(j.settings->'config'->'only_main_content', 'true')) = ${JSON.stringify([include, exclude, mainOnly])}::text::jsonb`;

/** Where the record of the capture `c` lies, as JSON. */
const pointer = (sql: Queryable) => sql`
  case when c.warc_key is not null
    then json_strip_nulls(json_build_object('key', c.warc_key, 'offset', c.warc_offset, 'length', c.warc_length,
      'coding', c.warc_coding, 'inner', c.warc_inner)) end`;

/**
 * The response that a revisit record names, among the captures of the given URLs.
 * @param urlHashes hex
 */
export async function findRecord(
  sql: Queryable,
  recordId: string,
  urlHashes: readonly string[],
): Promise<ResultCapture["warc"] | undefined> {
  const [row] = await sql<{ warc: ResultCapture["warc"] }[]>`
    select ${pointer(sql)} as warc from captures c
    where c.url_hash in (select decode(h, 'hex') from unnest(${urlHashes as string[]}::text[]) h)
      and c.warc_record_id = ${recordId}
    limit 1`;
  return row?.warc;
}
