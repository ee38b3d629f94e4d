/** The rows of archive jobs: made, shown, tried again. */
import type { UrlInspector } from "../../access/url-inspection.ts";
import type { JobFlags } from "../../crawl/tasks/job-flags.ts";
import { inTransaction, type Queryable, type Sql, type Transaction } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { isOfHtml } from "../snapshots/snapshots.ts";
import { buildJobConfig, type ConfigRequest, type JobConfig } from "./job-config.ts";
import { isJobName, JOB_NAME_RULE, jobName, outputDir } from "./job-name.ts";
import { type ArchiveJobEvent, type ArchiveJobStatus, nextStatus } from "./job-status.ts";
import type { Engine } from "./source.ts";
import { readSource } from "./sources.ts";

export interface ArchiveJob {
  id: number;
  sourceCode: string;
  sourceName: string;
  name: string;
  engine: Engine | "register";
  status: ArchiveJobStatus;
  retryCount: number;
  createdAt: Date;
  queuedAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  cleanupStatus: "none" | "temp_cleaned";
  cleanedAt: Date | null;
  crawlerExitCode: number | null;
  crawlerStatus: string | null;
  /** What its last run does or was begun with; null once it has ended. */
  crawlerStage: string | null;
  error: string | null;
  warcFileCount: number;
  warcBytesTotal: number;
  indexedPageCount: number;
  storageScannedAt: Date | null;
  outputDir: string;
  pagesCrawled: number;
  pagesTotal: number;
  pagesFailed: number;
  outputBytesTotal: number;
  finalZimPath: string | null;
  combinedLogPath: string | null;
  stateFilePath: string | null;
  config: JobConfig;
  lastStats: Record<string, unknown> | null;
}

const columns = (sql: Queryable) => sql`
  a.id, a.source_code as "sourceCode", s.name as "sourceName", a.name, a.engine, a.status, a.retry_count as "retryCount",
  a.created_at as "createdAt", a.queued_at as "queuedAt", a.started_at as "startedAt", a.finished_at as "finishedAt",
  a.cleanup_status as "cleanupStatus", a.cleaned_at as "cleanedAt", a.crawler_exit_code as "crawlerExitCode",
  a.crawler_status as "crawlerStatus", a.crawler_stage as "crawlerStage", a.error, a.warc_file_count as "warcFileCount",
  a.warc_bytes_total as "warcBytesTotal", a.indexed_page_count as "indexedPageCount",
  a.storage_scanned_at as "storageScannedAt", a.output_dir as "outputDir", a.pages_crawled as "pagesCrawled",
  a.pages_total as "pagesTotal", a.pages_failed as "pagesFailed", a.output_bytes_total as "outputBytesTotal",
  a.final_zim_path as "finalZimPath", a.combined_log_path as "combinedLogPath", a.state_file_path as "stateFilePath",
  a.config, a.last_stats as "lastStats"`;

export interface PlannedJob {
  sourceCode: string;
  engine: Engine;
  name: string;
  outputDir: string;
  config: JobConfig;
}

export interface JobRequest extends ConfigRequest {
  source: string;
  /** In place of what the source's template makes. */
  name?: string | undefined;
}

/**
 * What a job would be.
 * @throws ApiError that says what is wrong with it
 */
export async function planJob(
  sql: Queryable,
  { source: code, name: wanted, ...request }: JobRequest,
  { inspector, now }: { inspector: UrlInspector; now: Date },
): Promise<PlannedJob> {
  const source = await readSource(sql, code);
  if (!source.enabled) {
    const message = `The source ${source.code} is disabled: enable it by POST /api/admin/sources first`;
    throw new ApiError(409, message, { code: "SOURCE_DISABLED" });
  }
  const name = wanted ?? jobName(source.nameTemplate, now);
  checkName(name);
  const config = buildJobConfig(source, request, inspector);
  return { sourceCode: source.code, engine: source.engine, name, outputDir: outputDir(source.code, name, now), config };
}

export function checkName(name: string): void {
  if (isJobName(name)) return;
  const fault = { in: "body", path: "name", message: JOB_NAME_RULE };
  throw new ApiError(400, `name: ${JOB_NAME_RULE}`, { code: "VALIDATION_ERROR", details: { faults: [fault] } });
}

interface NewJobRow {
  status: ArchiveJobStatus;
  apiKeyId: string | null;
  now: Date;
  /** Where its request may be sent again: two jobs have never the same. */
  requestId?: string | undefined;
}

/**
 * @returns its id
 * @throws PostgresError unique_violation where there is one with the same `requestId`
 */
export async function insertJob(
  tx: Queryable,
  planned: Omit<PlannedJob, "engine" | "outputDir"> & { engine: ArchiveJob["engine"] },
  { status, apiKeyId, now, requestId }: NewJobRow,
): Promise<number> {
  const { sourceCode, engine, name, config } = planned;
  const [row] = await tx<{ id: number }[]>`select nextval(pg_get_serial_sequence('jobs', 'number')) as id`;
  const id = row?.id ?? 0;
  await tx`
    insert into archive_jobs (id, source_code, name, output_dir, engine, status, config, queued_at, api_key_id,
      request_id)
    values (${id}, ${sourceCode}, ${name}, ${outputDir(sourceCode, name, now, id)}, ${engine}, ${status},
      ${JSON.stringify(config)}::text::jsonb, now(), ${apiKeyId}, ${requestId ?? null})`;
  return id;
}

/** The job that a request has made before. */
export async function jobOfRequest(sql: Queryable, requestId: string | undefined): Promise<ArchiveJob | undefined> {
  if (requestId === undefined) return undefined;
  const [found] = await sql<{ id: number }[]>`select id from archive_jobs where request_id = ${requestId}`;
  return found && (await readArchiveJob(sql, found.id));
}

/**
 * Makes a job, unless its request has made it meanwhile.
 * @param make makes it with the `requestId`
 * @throws what `make` throws
 */
export async function onceOfRequest(
  sql: Queryable,
  requestId: string | undefined,
  make: () => Promise<ArchiveJob>,
): Promise<ArchiveJob> {
  const made = await jobOfRequest(sql, requestId);
  if (made !== undefined) return made;
  try {
    return await make();
  } catch (error) {
    const other = await jobOfRequest(sql, requestId);
    if (other === undefined) throw error;
    return other;
  }
}

export interface JobsDependencies {
  sql: Sql;
  flags: Pick<JobFlags, "markActive">;
}

/** It begins within a minute. */
export async function createArchiveJob(
  { sql, flags }: JobsDependencies,
  planned: PlannedJob,
  apiKeyId: string | null,
  requestId?: string,
): Promise<ArchiveJob> {
  // before the row: a job that nobody looks for could hang
  await flags.markActive();
  const id = await insertJob(sql, planned, { status: "queued", apiKeyId, now: new Date(), requestId });
  return await readArchiveJob(sql, id);
}

/** @throws ApiError 404 NOT_FOUND */
export async function readArchiveJob(sql: Queryable, id: number): Promise<ArchiveJob> {
  const [found] = await sql<ArchiveJob[]>`
    select ${columns(sql)} from archive_jobs a join sources s on s.code = a.source_code where a.id = ${id}`;
  if (found === undefined) throw new ApiError(404, `There is no archive job ${id}`, { code: "NOT_FOUND" });
  return found;
}

export interface JobFilter {
  source?: string | undefined;
  status?: ArchiveJobStatus | undefined;
}

/** Newest first. */
export async function listArchiveJobs(
  sql: Queryable,
  { source, status }: JobFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; jobs: ArchiveJob[] }> {
  const where = sql`
    ${source === undefined ? sql`true` : sql`a.source_code = ${source}`}
    and ${status === undefined ? sql`true` : sql`a.status = ${status}`}`;
  const [counted] = await sql<{ total: number }[]>`select count(*) as total from archive_jobs a where ${where}`;
  const jobs = await sql<ArchiveJob[]>`
    select ${columns(sql)} from archive_jobs a join sources s on s.code = a.source_code
    where ${where} order by a.id desc limit ${limit} offset ${offset}`;
  return { total: counted?.total ?? 0, jobs };
}

export async function countByStatus(sql: Queryable): Promise<Record<string, number>> {
  const rows = await sql<{ status: string; count: number }[]>`
    select status, count(*) as count from archive_jobs group by status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

export interface JobSnapshot {
  id: number;
  url: string;
  capturedAt: Date;
  status: number;
  language: string | null;
  title: string | null;
}

/** Newest first; those of the reserved source too. */
export async function listJobSnapshots(
  sql: Queryable,
  id: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<JobSnapshot[]> {
  return await sql<JobSnapshot[]>`
    select c.id, c.final_url as url, c.fetched_at as "capturedAt", c.status_code as status, c.language,
      left(c.title, 1000) as title
    from captures c join jobs j on j.id = c.job_id
    where j.archive_job_id = ${id} and ${isOfHtml(sql)}
    order by c.fetched_at desc, c.id desc limit ${limit} offset ${offset}`;
}

/**
 * Moves a job on, where its state allows it.
 * @param tx whose transaction holds the row's lock
 * @returns the state that it has then; undefined where the event has no place in its state
 */
export async function moveJob(
  tx: Transaction,
  id: number,
  event: ArchiveJobEvent,
  more: Record<string, unknown> = {},
): Promise<ArchiveJobStatus | undefined> {
  const [row] = await tx<{ status: ArchiveJobStatus; retries: number }[]>`
    select status, retry_count as retries from archive_jobs where id = ${id} for update`;
  const next = row && nextStatus(row.status, event, row.retries);
  if (row === undefined || next === undefined) return undefined;
  const changes = { status: next, ...(next === "retryable" && { retry_count: row.retries + 1 }), ...more };
  await tx`update archive_jobs set ${tx(changes as never)}, updated_at = now() where id = ${id}`;
  return next;
}

/** @throws ApiError 404, or 409 JOB_STATE where the event has no place in the job's state */
export async function moveOrRefuse(
  { sql, flags }: JobsDependencies,
  id: number,
  { event, instead, more }: { event: ArchiveJobEvent; instead: string; more?: Record<string, unknown> },
): Promise<ArchiveJob> {
  const job = await readArchiveJob(sql, id);
  await flags.markActive();
  const moved = await inTransaction(sql, (tx) => moveJob(tx, id, event, more));
  if (moved === undefined) {
    throw new ApiError(409, `The job ${id} is ${job.status}: ${instead}`, {
      code: "JOB_STATE",
      details: { status: job.status },
    });
  }
  return await readArchiveJob(sql, id);
}

/** A failed crawl is made once more, a failed index is made once more of what was crawled. */
export const retryArchiveJob = (dependencies: JobsDependencies, id: number): Promise<ArchiveJob> =>
  moveOrRefuse(dependencies, id, {
    event: "retried",
    instead: "only failed and index_failed jobs are tried again",
    more: { error: null, not_before: new Date() },
  });
