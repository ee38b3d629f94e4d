/**
 * The states of a job. Counts change in the transaction that changes the rows they count; whoever brings a count to
 * zero moves the job on, in that same transaction and under the job's row lock, so that each step is taken exactly
 * once.
 *
 * Locks are always taken in this order, which keeps transactions from waiting in a circle: frontier rows that are
 * claimed, documents and chunks, the job row, frontier rows that are pending, generations.
 */
import { activateGeneration, rememberGeneration } from "../../knowledge/documents/generations.ts";
import { tellJobEnded } from "../../notify/webhooks/outbox.ts";
import { afterCommit, type Queryable, type Transaction } from "../../platform/database/database.ts";

import type { Logger } from "../../platform/observability/log.ts";
import type { Priority } from "../settings/job-settings.ts";
import { type JobSettings, jobSettingsSchema } from "../settings/job-settings.ts";
import type { TaskNote } from "../tasks/task-note.ts";
import { recordJobEnded } from "./metrics.ts";
import { whyNoPage } from "./without-pages.ts";

export type JobKind = "pages" | "site" | "archive" | "import";
export type JobStatus = "pending" | "running" | "embedding" | "completed" | "failed" | "cancelled";

export interface JobRow {
  id: string;
  kind: JobKind;
  status: JobStatus;
  stopReason: string | null;
  priority: Priority;
  collectionId: string | null;
  generationId: string;
  cancelRequested: boolean;
  /** No request is made later than this; null: whenever. */
  deadlineAt: Date | null;
  /** The deadline has passed: nothing more is claimed, and the job completes with what it has. */
  timedOut: boolean;
  /** Its URLs are those of a list that is being read. */
  awaitsList: boolean;
  /** Whose it is; null: nobody's. */
  apiKeyId: string | null;
  /** Quotas of that key, see `page-quota.ts`; null: none. */
  pagesPerDay: number | null;
  maxStoredBytes: number | null;
  settings: JobSettings;
  counts: JobCounts;
}

export interface JobCounts {
  /** open + crawled + failed + skipped */
  discovered: number;
  open: number;
  crawled: number;
  failed: number;
  skipped: number;
  /** URLs counted against `max_pages`. */
  claimed: number;
  /** URLs that ended as results: the last `result_seq` given. */
  results: number;
  documents: number;
  chunks: number;
  unembedded: number;
}

export const isFinished = (status: JobStatus): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

interface RawJob extends Omit<JobRow, "settings" | "counts">, JobCounts {
  settings: unknown;
}

/** The job's row, locked until the transaction ends; undefined where there is none. */
export const lockJob = (tx: Transaction, jobId: string) => readRow(tx, jobId, tx`for no key update`);

/** As `lockJob`, without the lock: what it says may be old by the time it is read. */
export const peekJob = (tx: Transaction, jobId: string) => readRow(tx, jobId, tx``);

async function readRow(tx: Transaction, jobId: string, lock: Fragment): Promise<JobRow | undefined> {
  const [raw] = await tx<RawJob[]>`select ${rowColumns(tx)} from jobs where id = ${jobId} ${lock}`;
  return raw && jobOf(raw);
}

type Fragment = ReturnType<Queryable>;

const rowColumns = (sql: Queryable) => sql`
  id, kind, status, stop_reason as "stopReason", priority, collection_id as "collectionId",
  generation_id as "generationId", cancel_requested as "cancelRequested", deadline_at as "deadlineAt",
  timed_out as "timedOut", awaits_list as "awaitsList", settings, discovered, open_urls as open,
  crawled, failed, skipped, claimed, results, documents, chunks, unembedded_chunks as unembedded,
  api_key_id as "apiKeyId", (select pages_per_day from api_keys k where k.id = jobs.api_key_id) as "pagesPerDay",
  (select max_stored_bytes from api_keys k where k.id = jobs.api_key_id) as "maxStoredBytes"`;

function jobOf(raw: RawJob): JobRow {
  const {
    settings,
    discovered,
    open,
    crawled,
    failed,
    skipped,
    claimed,
    results,
    documents,
    chunks,
    unembedded,
    ...job
  } = raw;
  return {
    ...job,
    settings: jobSettingsSchema.parse(settings),
    counts: { discovered, open, crawled, failed, skipped, claimed, results, documents, chunks, unembedded },
  };
}

/** Adds to the job's counts, in the row and in `job`; the caller holds the row's lock. */
export async function addCounts(tx: Transaction, job: JobRow, added: Partial<JobCounts>): Promise<void> {
  const { discovered = 0, open = 0, crawled = 0, failed = 0, skipped = 0 } = added;
  const { claimed = 0, results = 0, documents = 0, chunks = 0, unembedded = 0 } = added;
  await tx`
    update jobs set discovered = discovered + ${discovered}, open_urls = open_urls + ${open},
      crawled = crawled + ${crawled}, failed = failed + ${failed}, skipped = skipped + ${skipped},
      claimed = claimed + ${claimed}, results = results + ${results}, documents = documents + ${documents}, chunks = chunks + ${chunks},
      unembedded_chunks = unembedded_chunks + ${unembedded}, updated_at = statement_timestamp()
    where id = ${job.id}`;
  for (const [name, amount] of Object.entries(added)) job.counts[name as keyof JobCounts] += amount;
}

/**
 * The first captures are here.
 * @param begunAt when their first request left
 */
export async function markRunning(tx: Transaction, job: JobRow, begunAt: Date): Promise<void> {
  if (job.status !== "pending") return;
  await tx`
    update jobs set status = 'running', started_at = ${startedAt(tx, begunAt)}
    where id = ${job.id} and status = 'pending'`;
  job.status = "running";
}

/** Clocks differ: no job begins before it was taken, or later than now. */
const startedAt = (tx: Queryable, begunAt: Date) => tx`
  coalesce(started_at, least(statement_timestamp(), greatest(created_at, ${begunAt})))`;

/** What a fetch task tells of its job. */
export async function recordTaskNote(sql: Queryable, { jobId, begunAt, waits }: TaskNote): Promise<void> {
  if (begunAt !== null) {
    await sql`
      update jobs set status = 'running', started_at = ${startedAt(sql, new Date(begunAt))}
      where id = ${jobId} and status = 'pending'`;
  }
  if (waits === null) return;
  const { host, ...wait } = waits;
  // of many hosts that fail the job shows those that keep it waiting longest
  await sql`
    update jobs set waits = (
      select jsonb_object_agg(w.key, w.value) from (
        select key, value from jsonb_each(waits || ${JSON.stringify({ [host]: wait })}::text::jsonb)
        where (value->>'until')::timestamptz > statement_timestamp()
        order by value->>'until' desc limit ${MOST_WAITS}) w)
    where id = ${jobId} and status in ('pending', 'running') and ${waits.until}::timestamptz > statement_timestamp()`;
}

const MOST_WAITS = 20;

/** Each outweighs those before it, since it cuts pages that they would have allowed. */
const STOP_LIMITS = ["max_depth", "budget_exhausted", "max_pages", "timeout", "quota_exceeded"] as const;
export type StopLimit = (typeof STOP_LIMITS)[number];

/** Why the crawl went no further, noted while it runs; it becomes the job's stop reason if the job completes. */
export async function noteLimit(tx: Transaction, job: JobRow, limit: StopLimit): Promise<void> {
  const rank = STOP_LIMITS.indexOf(job.stopReason as StopLimit);
  if (rank >= STOP_LIMITS.indexOf(limit)) return;
  await tx`update jobs set stop_reason = ${limit} where id = ${job.id}`;
  job.stopReason = limit;
}

export type Settled = "unchanged" | "embedding" | "completed" | "failed" | "cancelled";

/**
 * Moves the job on if its counts say so: running → embedding once no URL is open, → completed once no chunk waits for
 * its vector, activating the generation in this same transaction. To be called in the transaction that changed the
 * counts, after that change. A job without a single page fails where something of it failed, and a site in any case, so
 * that a site that is down does not erase what is known of it. Given pages that were all skipped, since robots.txt
 * forbids them or their time was up, complete: that was asked for.
 * @param tx of `inTransaction`: the end is recorded once it is committed
 * @param options withoutVectors: whether it waits for vectors no longer, which follow
 */
export async function settleJob(
  tx: Transaction,
  jobId: string,
  log: Logger,
  { withoutVectors = false }: { withoutVectors?: boolean } = {},
): Promise<Settled> {
  const job = await lockJob(tx, jobId);
  if (job === undefined || isFinished(job.status) || job.counts.open > 0) return "unchanged";
  if (job.cancelRequested) return await finish(tx, log, job, "cancelled", "manual_stop");
  if (job.awaitsList) return "unchanged";
  const isCrawl = job.kind !== "import";
  if (isCrawl && job.counts.crawled === 0 && (job.kind === "site" || job.counts.failed > 0))
    return await fail(tx, log, job);
  if (job.counts.unembedded > 0 && !(withoutVectors && job.status === "embedding")) {
    if (job.status === "embedding") return "unchanged";
    await tx`
      update jobs set status = 'embedding', started_at = coalesce(started_at, statement_timestamp()),
        crawl_ended_at = statement_timestamp(), updated_at = statement_timestamp()
      where id = ${jobId}`;
    return "embedding";
  }
  await activate(tx, job);
  return await finish(tx, log, job, "completed", job.stopReason ?? "completed");
}

async function fail(tx: Transaction, log: Logger, job: JobRow): Promise<Settled> {
  // given pages that are gone (404, 410) are not found any more
  if (job.kind === "pages") await activate(tx, job);
  const why = await whyNoPage(tx, job.id);
  const error = job.kind === "site" ? `${why}. What was searchable before stays so.` : why;
  // its time may have been too short for a single page
  return await finish(tx, log, job, "failed", job.stopReason === "timeout" ? "timeout" : "error", error);
}

/** Ends a job of which nothing came; the caller holds the row's lock. */
export async function failJob(tx: Transaction, log: Logger, job: JobRow, error: string): Promise<Settled> {
  return await finish(tx, log, job, "failed", "error", error);
}

/** A job that is not to be indexed has no documents, and must not hide those of others. */
async function activate(tx: Transaction, job: JobRow): Promise<void> {
  const { id: jobId, generationId, collectionId, settings } = job;
  if (!settings.index) return;
  const onlyNewer = job.kind === "import";
  const activation = { jobId, generationId, collectionId, wholeHosts: wholeHosts(job), onlyNewer };
  const restoresDeleted = settings.restore_deleted;
  await activateGeneration(tx, { ...activation, restoresDeleted });
  if (job.kind === "pages" || job.kind === "site") await rememberGeneration(tx, activation);
}

/** A crawl of whole hosts knows each of their pages; one that patterns narrow, or a quota of its key cut, does not. */
export function wholeHosts({ kind, stopReason, settings: { scope, replaces } }: JobRow): readonly string[] {
  const whole = kind === "site" && replaces === "site" && scope.mode === "host" && stopReason !== "quota_exceeded";
  return whole && scope.include.length === 0 && scope.exclude.length === 0 ? scope.roots : [];
}

async function finish(
  tx: Transaction,
  log: Logger,
  job: JobRow,
  status: "completed" | "failed" | "cancelled",
  stopReason: string,
  error: string | null = null,
): Promise<Settled> {
  const [ended] = await tx<{ seconds: number }[]>`
    update jobs set status = ${status}, stop_reason = ${stopReason}, error = ${error}, completed_at = statement_timestamp(),
      started_at = coalesce(started_at, statement_timestamp()), updated_at = statement_timestamp()
    where id = ${job.id} and status in ('pending', 'running', 'embedding')
    returning extract(epoch from completed_at - created_at)::float8 as seconds`;
  await tx`delete from crawl_counts where job_id = ${job.id}`;
  if (ended === undefined) return "unchanged";
  await tellJobEnded(tx, job.id, status);
  afterCommit(tx, () => recordJobEnded(log, job.id, { kind: job.kind, status, stopReason }, ended.seconds));
  return status;
}
