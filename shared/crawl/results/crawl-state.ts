/** How far the crawl of a job has come: what whoever waits for it looks at, by one cheap query. */
import type { Queryable } from "../../platform/database/database.ts";
import { isFinished, type JobStatus } from "../jobs/lifecycle.ts";
import type { JobWait } from "../jobs/views.ts";
import type { FieldSelection } from "./fields.ts";

export interface CrawlState {
  id: string;
  generationId: string;
  status: JobStatus;
  respectsRobots: boolean;
  /**
   * No result is to come that anybody waits for: every URL has ended, or the job was cancelled. Pages may still be
   * embedded.
   */
  over: boolean;
  /** URLs that have ended as results so far; each has the next cursor, from 1 on. */
  results: number;
  crawled: number;
  failed: number;
  /** Every URL that the job knows. */
  discovered: number;
  /** null while the crawl goes on. */
  stopReason: string | null;
  /** Why the job failed. */
  error: string | null;
  /** Since the job was taken, until its last URL ended, or else the job, or until now. */
  durationSeconds: number;
  deadlineAt: Date | null;
  createdAt: Date;
  completedAt: Date | null;
  /** It is ended once nobody listens. */
  endsUnheard: boolean;
  /** Hosts that it has to wait for. */
  waits: JobWait[];
  /** Which fields of its results are shown to whoever selects none. */
  fields: FieldSelection | null;
}

interface Row extends Omit<CrawlState, "over"> {
  open: number;
  cancelRequested: boolean;
}

/** @returns undefined where there is no such job */
export async function readCrawlState(sql: Queryable, jobId: string): Promise<CrawlState | undefined> {
  const [row] = await sql<Row[]>`
    select id, generation_id as "generationId", status, results, crawled, failed, discovered, error,
      coalesce((settings->'config'->>'respect_robots_txt')::boolean, true) as "respectsRobots",
      open_urls as open, cancel_requested as "cancelRequested", stop_reason as "stopReason",
      extract(epoch from coalesce(crawl_ended_at, completed_at, now()) - created_at)::float8 as "durationSeconds",
      deadline_at as "deadlineAt", created_at as "createdAt", completed_at as "completedAt", watched_at is not null as "endsUnheard",
      waits_of(jobs) as waits,
      nullif(settings->'fields', 'null') as fields
    from jobs where id = ${jobId}`;
  if (row === undefined) return undefined;
  const { open, cancelRequested, ...state } = row;
  const over = open === 0 || cancelRequested || isFinished(row.status);
  return { ...state, over, stopReason: over ? stopReasonOf(row) : null };
}

/** The job's own, once it has ended; before that what it will be. */
function stopReasonOf({ status, stopReason, cancelRequested }: Row): string {
  if (isFinished(status)) return stopReason ?? "completed";
  return cancelRequested ? "manual_stop" : (stopReason ?? "completed");
}

/** Hosts of which a page was crawled, without their ports. */
export async function crawledDomains(sql: Queryable, jobId: string): Promise<string[]> {
  const rows = await sql<{ host: string }[]>`
    select distinct host from frontier
    where job_id = ${jobId} and result_seq is not null and state = 'crawled' order by host limit ${MOST_DOMAINS}`;
  return [...new Set(rows.map(({ host }) => new URL(`http://${host}`).hostname))];
}

const MOST_DOMAINS = 10_000;

/** In order of discovery within each depth, as far as the strategy keeps it. */
export async function discoveredUrls(sql: Queryable, jobId: string, limit: number): Promise<string[]> {
  const rows = await sql<{ url: string }[]>`
    select url from frontier where job_id = ${jobId} order by priority, url_hash limit ${limit}`;
  return rows.map(({ url }) => url);
}
