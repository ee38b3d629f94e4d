/**
 * Creates and shows discovery jobs, and ends each exactly once. The row is the truth; messages only say that there is
 * something to do.
 */

import { MessagesRefused, type QueueSender } from "../../platform/aws/queues.ts";
import { inTransaction, type Sql, type Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { uuidv7 } from "../../platform/ids.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { storable } from "../../platform/text.ts";
import { failJob, isFinished, lockJob } from "../jobs/lifecycle.ts";
import { recordJobEnded } from "../jobs/metrics.ts";
import type { JobFlags } from "../tasks/job-flags.ts";
import { keywordsOf } from "../urls/relevance.ts";
import type { ListDocument, ListTask, WantedList } from "./list-task.ts";
import { DISCOVER_QUEUE, type Discovered, type DiscoveryNote, type DiscoveryTask } from "./task.ts";

export interface DiscoveryDependencies {
  sql: Sql;
  queues: QueueSender;
  flags: Pick<JobFlags, "markActive">;
  log: Logger;
}

export interface NewDiscovery {
  /** What its id must be: where there is a job with it, that is the one. */
  id?: string | undefined;
  /** As `siteText` writes it. */
  domain: string;
  sources: DiscoveryTask["sources"];
  pattern: string | null;
  maxUrls: number;
  scoreQuery: string | null;
  scoreThreshold: number;
  apiKeyId: string | null;
}

export type DiscoveryStatus = "pending" | "running" | "completed" | "failed";

export interface DiscoveryView {
  job_id: string;
  domain: string;
  sources: DiscoveryTask["sources"];
  pattern: string | null;
  max_urls: number;
  score_query: string | null;
  score_threshold: number;
  status: DiscoveryStatus;
  error: string | null;
  urls_found: number;
  result_key: string | null;
  notes: DiscoveryNote[];
  /** Of a monitored source, for the job of the same id; null: somebody asked for a discovery. */
  list: WantedList | null;
  created_at: Date;
  completed_at: Date | null;
}

/** The job is taken once this resolves, even if no message could be sent: the sweep sends it. */
export async function createDiscovery(dependencies: DiscoveryDependencies, job: NewDiscovery): Promise<DiscoveryView> {
  const { sql, flags } = dependencies;
  const made = job.id === undefined ? undefined : await readDiscoveryJob(sql, job.id);
  if (made !== undefined) return made;
  const jobId = job.id ?? uuidv7();
  // before the row: a job that the sweep does not look for could hang
  await flags.markActive();
  await sql`
    insert into discovery_jobs (id, domain, sources, pattern, max_urls, score_query, score_threshold, api_key_id)
    values (${jobId}, ${job.domain}, ${job.sources}, ${job.pattern}, ${job.maxUrls}, ${job.scoreQuery},
      ${job.scoreThreshold}, ${job.apiKeyId})`;
  await sendDiscovery(dependencies, (await readDiscoveryJob(sql, jobId)) as DiscoveryView);
  return (await readDiscoveryJob(sql, jobId)) as DiscoveryView;
}

/** Sends the job's message; where that fails the next sweep tries again, and where it always would the job ends. */
export async function sendDiscovery(
  { sql, queues, log }: Pick<DiscoveryDependencies, "sql" | "queues" | "log">,
  job: DiscoveryView,
): Promise<void> {
  const task = job.list === null ? taskOf(job) : await listTask(sql, job.job_id, job.list);
  try {
    await queues.send(DISCOVER_QUEUE, task);
  } catch (error) {
    if (error instanceof MessagesRefused) {
      log.error("a discovery cannot be sent as it is: it ends as failed", { error, job_id: job.job_id });
      return void (await failDiscovery({ sql, log }, job.job_id, `TASK_REFUSED: ${error.message}`));
    }
    log.warn("a discovery's message could not be sent: the sweep sends it", { error, job_id: job.job_id });
    await sql`update discovery_jobs set sent_at = null, sends = greatest(0, sends - 1) where id = ${job.job_id}`;
  }
}

function taskOf(job: DiscoveryView): DiscoveryTask {
  return {
    jobId: job.job_id,
    domain: job.domain,
    sources: job.sources,
    pattern: job.pattern,
    maxUrls: job.max_urls,
    keywords: job.score_query === null ? [] : keywordsOf(job.score_query),
    scoreThreshold: job.score_threshold,
  };
}

/** Of what was read before, so that the message keeps below what a queue takes: the rest is read again. */
const MOST_KNOWN_CHARACTERS = 150_000;

async function listTask(sql: Sql, jobId: string, list: WantedList): Promise<ListTask> {
  const rows = await sql<ListDocument[]>`
    select l.url, l.etag, l.last_modified, l.digest, l.named
    from crawl_source_lists l join jobs j on j.crawl_source_id = l.source_id
    where j.id = ${jobId} and l.gone_at is null order by l.url`;
  let characters = 0;
  const known = rows.filter((row) => {
    characters += JSON.stringify(row).length;
    return characters <= MOST_KNOWN_CHARACTERS;
  });
  return { jobId, list, known };
}

export async function readDiscoveryJob(sql: Sql, jobId: string): Promise<DiscoveryView | undefined> {
  const [row] = await sql<DiscoveryView[]>`
    select id as job_id, domain, sources, pattern, max_urls, score_query, score_threshold, status, error, urls_found,
      result_key, notes, list, created_at, completed_at
    from discovery_jobs where id = ${jobId}`;
  return row;
}

interface Noting {
  sql: Sql;
  log: Logger;
}

/**
 * Records what the worker reports. Idempotent: the first end counts.
 *
 * @returns whether this changed the row
 */
export async function takeDiscovered(
  { sql, log }: Noting,
  message: Exclude<Discovered, { event: "listed" }>,
): Promise<boolean> {
  if (message.event === "started") {
    const { count } =
      await sql`update discovery_jobs set status = 'running' where id = ${message.jobId} and status = 'pending'`;
    return count > 0;
  }
  const { jobId, error, urlsFound, resultKey, notes } = message;
  const status = error === null ? "completed" : "failed";
  const [ended] = await sql<{ seconds: number }[]>`
    update discovery_jobs
    set status = ${status}, error = ${error && storable(error)}, urls_found = ${urlsFound},
      result_key = ${resultKey}, notes = ${rowsOf(notes)}::text::jsonb, completed_at = now()
    where id = ${jobId} and status in ('pending', 'running')
    returning extract(epoch from completed_at - created_at)::float8 as seconds`;
  return recordEnded(log, jobId, status, ended);
}

/**
 * Ends a job whose worker will not answer.
 * @returns whether it was open
 */
export async function failDiscovery({ sql, log }: Noting, jobId: string, error: string): Promise<boolean> {
  const ended = await inTransaction(sql, async (tx) => {
    const [row] = await tx<{ seconds: number; monitored: boolean }[]>`
      update discovery_jobs set status = 'failed', error = ${error}, completed_at = now()
      where id = ${jobId} and status in ('pending', 'running')
      returning extract(epoch from completed_at - created_at)::float8 as seconds, list is not null as monitored`;
    if (row?.monitored) await failListJob(tx, log, jobId, error);
    return row;
  });
  return recordEnded(log, jobId, "failed", ended);
}

/** Ends the job that waits for its list, and never learns what that names. */
export async function failListJob(tx: Transaction, log: Logger, jobId: string, error: string): Promise<void> {
  const job = await lockJob(tx, jobId);
  if (job === undefined || isFinished(job.status)) return;
  await tx`update jobs set awaits_list = false where id = ${jobId}`;
  await failJob(tx, log, job, storable(error));
}

function recordEnded(
  log: Logger,
  jobId: string,
  status: "completed" | "failed",
  ended: { seconds: number } | undefined,
): boolean {
  if (ended === undefined) return false;
  const stopReason = status === "completed" ? "completed" : "error";
  recordJobEnded(log, jobId, { kind: "discovery", status, stopReason }, ended.seconds);
  return true;
}

/** The worker's report was lost: the next sweep asks for it again, as often as it asks any. */
export async function releaseDiscovery(sql: Sql, jobId: string): Promise<void> {
  await sql`update discovery_jobs set sent_at = null where id = ${jobId} and status in ('pending', 'running')`;
}

/** As long as S3 keeps what they found. */
const KEPT_DAYS = 30;
const MOST_REMOVED = 5_000;

/**
 * Removes jobs whose URLs have expired; what is left is for the next time.
 * @returns how many went
 */
export async function removeExpiredDiscoveries(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from discovery_jobs where id in (
      select id from discovery_jobs where completed_at < now() - ${KEPT_DAYS}::int * interval '1 day'
      limit ${MOST_REMOVED})`;
  return count;
}
