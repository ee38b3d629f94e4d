/** Reads jobs as the API shows them. */
import type { Rendering } from "../../capture/capture.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { type JobSettings, jobSettingsSchema, type Priority, type Strategy } from "../settings/job-settings.ts";
import { withoutSecrets } from "../settings/secrets.ts";
import type { TaskNote } from "../tasks/task-note.ts";
import type { JobKind, JobStatus } from "./lifecycle.ts";
import { type NoDocument, noDocument } from "./no-document.ts";

export interface JobView {
  job_id: string;
  kind: JobKind;
  status: JobStatus;
  /** null until the job has ended. */
  stop_reason: string | null;
  priority: Priority;
  /** discovered = open + crawled + failed + skipped */
  counts: {
    discovered: number;
    open: number;
    crawled: number;
    failed: number;
    skipped: number;
    documents: number;
    chunks: number;
    unembedded_chunks: number;
  };
  settings: { seeds: string[]; max_depth: number; max_pages: number; strategy: Strategy; tags: string[] };
  collection_id: string | null;
  cancel_requested: boolean;
  /** Hosts that it has to wait for. */
  waits: JobWait[];
  error: string | null;
  created_at: Date;
  started_at: Date | null;
  completed_at: Date | null;
  updated_at: Date;
}

export type JobWait = NonNullable<TaskNote["waits"]>;

/** Of a title or a message, in characters. */
const LONGEST_SHOWN = 1000;
/** Lambda answers with 6 MB at the most, in which JSON is escaped once more. */
const LARGEST_ANSWER_BYTES = 2_500_000;

/** Seeds that a view shows, at the most; the URL list has them all. */
const SHOWN_SEEDS = 10;

export async function readJob(sql: Queryable, jobId: string): Promise<JobView | undefined> {
  const [job] = await sql<JobView[]>`select ${jobColumns(sql)} from jobs where id = ${jobId}`;
  return job;
}

/**
 * Newest first.
 * @param after the `job_id` of the last job seen
 */
export async function listJobs(
  sql: Queryable,
  { status, limit, after }: { status?: JobStatus | undefined; limit: number; after?: string | undefined },
): Promise<JobView[]> {
  return await sql<JobView[]>`
    select ${jobColumns(sql)} from jobs
    where ${status === undefined ? sql`true` : sql`status = ${status}`}
      and ${after === undefined ? sql`true` : sql`id < ${after}`}
    order by id desc limit ${limit}`;
}

/** For a query on `jobs`: a `JobView`. */
export function jobColumns(sql: Queryable) {
  return sql`
    id as job_id, kind, status, priority, collection_id, cancel_requested, error, created_at, started_at, completed_at,
    updated_at, waits_of(jobs) as waits, case when status in ('completed', 'failed', 'cancelled') then stop_reason end as stop_reason,
    json_build_object('discovered', discovered, 'open', open_urls, 'crawled', crawled, 'failed', failed,
      'skipped', skipped, 'documents', documents, 'chunks', chunks, 'unembedded_chunks', unembedded_chunks) as counts,
    json_build_object('seeds', jsonb_path_query_array(settings, ${`$.seeds[0 to ${SHOWN_SEEDS - 1}]`}::text::jsonpath),
      'max_depth', settings->'max_depth', 'max_pages', settings->'max_pages',
      'strategy', coalesce(settings->>'strategy', 'bfs'), 'tags', settings->'tags') as settings`;
}

/** What a job runs with beside what every view of it shows, without secrets. */
export type JobRun = Pick<
  JobSettings,
  | "scope"
  | "keywords"
  | "score_threshold"
  | "max_pages_per_host"
  | "concurrency"
  | "index"
  | "cache"
  | "cache_ttl_s"
  | "config"
>;

/** As many roots of its scope as seeds are shown; null where the job is of a kind that has no such settings. */
export async function readJobRun(sql: Queryable, jobId: string): Promise<JobRun | null> {
  const [row] = await sql<{ settings: unknown }[]>`select settings from jobs where id = ${jobId}`;
  const settings = jobSettingsSchema.safeParse(row?.settings).data;
  if (settings === undefined) return null;
  const { scope, keywords, score_threshold, max_pages_per_host, concurrency, index, cache, cache_ttl_s, config } =
    settings;
  return {
    scope: { ...scope, roots: scope.roots.slice(0, SHOWN_SEEDS) },
    keywords,
    score_threshold,
    max_pages_per_host,
    concurrency,
    index,
    cache,
    cache_ttl_s,
    config: withoutSecrets(config),
  };
}

export interface JobUrlView {
  url: string;
  depth: number;
  state: "pending" | "claimed" | "crawled" | "failed" | "skipped";
  attempts: number;
  /** Why it has no page, or none yet. */
  error_code: string | null;
  discovered_from: string | null;
  capture_id: number | null;
  final_url: string | null;
  /** 0 where no answer came; null where none was asked for yet. */
  status_code: number | null;
  mime_type: string | null;
  title: string | null;
  error_message: string | null;
  fetched_at: Date | null;
  fetch_time_ms: number | null;
  payload_bytes: number | null;
  not_modified: boolean | null;
  truncated: boolean | null;
  /** A recent capture was taken instead of a request. */
  reused: boolean | null;
  /** Where it was opened in a browser, or was to be. */
  rendered: RenderedView | null;
  document_id: string | null;
  /** Null where it has one, had one, or may get one. */
  no_document: NoDocument | null;
}

export interface RenderedView extends Pick<Rendering, "reason" | "renderer"> {
  /** Whether the archive has its DOM. */
  archived: boolean;
  error_code: string | null;
  error_message: string | null;
}

export interface JobUrlPage {
  urls: JobUrlView[];
  /** Pass as `after` for the next page; null on the last. */
  next: string | null;
}

/**
 * In order of discovery within each depth.
 * @param after opaque; what does not parse as a cursor starts from the beginning
 */
export async function listJobUrls(
  sql: Queryable,
  jobId: string,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<JobUrlPage> {
  const from = parseCursor(after);
  const rows = await sql<(JobUrlView & { cursor_priority: number; cursor_hash: string })[]>`
    select f.url, f.depth, f.state, f.error_code, f.discovered_from, f.capture_id,
      f.attempt + (f.state in ('crawled', 'failed') or f.capture_id is not null and f.state = 'skipped')::int as attempts,
      c.final_url, c.status_code, c.mime_type, left(c.title, ${LONGEST_SHOWN}) as title, left(c.error_message, ${LONGEST_SHOWN}) as error_message, c.fetched_at, c.fetch_time_ms, c.payload_bytes,
      c.not_modified, c.truncated, c.reused_from is not null as reused,
      case when jsonb_typeof(c.rendered) = 'object' then jsonb_build_object(
        'reason', c.rendered->>'reason', 'renderer', c.rendered->>'renderer',
        'archived', jsonb_typeof(c.rendered->'warc') = 'object',
        'error_code', c.rendered->'error'->>'code', 'error_message', c.rendered->'error'->>'message') end as rendered, d.id as document_id,
      case when d.id is null then ${noDocument(sql)} end as no_document,
      f.priority as cursor_priority, encode(f.url_hash, 'hex') as cursor_hash
    from frontier f
    join jobs j on j.id = f.job_id
    left join captures c on c.id = f.capture_id
    left join documents d on d.generation_id = j.generation_id and d.url_hash = c.final_url_hash
    where f.job_id = ${jobId}
      and ${from === undefined ? sql`true` : sql`(f.priority, f.url_hash) > (${from.priority}, decode(${from.hash}, 'hex'))`}
    order by f.priority, f.url_hash
    limit ${limit + 1}`;
  const shown = withinBytes(rows.slice(0, limit));
  const last = shown.at(-1);
  return {
    urls: shown.map(({ cursor_priority: _, cursor_hash: __, ...view }) => view),
    next: rows.length > shown.length && last !== undefined ? `${last.cursor_priority}.${last.cursor_hash}` : null,
  };
}

/** As many rows as an answer holds, at least one. */
function withinBytes<Row>(rows: readonly Row[]): readonly Row[] {
  let bytes = 0;
  const over = rows.findIndex((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row));
    return bytes > LARGEST_ANSWER_BYTES;
  });
  return over < 0 ? rows : rows.slice(0, Math.max(1, over));
}

function parseCursor(cursor: string | undefined): { priority: number; hash: string } | undefined {
  const match = /^(-?\d+(?:\.\d+)?(?:e[+-]\d+)?)\.([0-9a-f]{64})$/.exec(cursor ?? "");
  return match ? { priority: Number(match[1]), hash: match[2] as string } : undefined;
}
