/** A job again: all of it where it failed, or the URLs of it that did. The retry is a job of its own, one at a time. */
import type { Transaction } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { requireProxy } from "../administration/proxy-configs.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { isFinished, type JobRow, lockJob } from "../jobs/lifecycle.ts";
import type { JobView } from "../jobs/views.ts";
import { createJob, type NewJob } from "./create-job.ts";

export interface RetryOptions {
  /** `transient`: only URLs whose fault may have passed. */
  only: "all" | "transient";
  apiKeyId: string | null;
}

export interface Retry {
  job: JobView;
  /** Failed URLs beyond `MAX_RETRIED_URLS`, for a further retry. */
  left: number;
}

/** URLs that one retry asks for, at the most. */
const MAX_RETRIED_URLS = 10_000;

/**
 * A site that failed is run again with the same settings, its time limit included; of given pages that failed, all are
 * tried again, those that were skipped too. Of a job that completed, or where only transient faults are to be tried,
 * the failed URLs are, as given pages that replace nothing else. What an earlier retry has crawled is left out.
 * @throws ApiError 404 NOT_FOUND, of its proxy too; 409 PROXY_INACTIVE, JOB_UNFINISHED, RETRY_UNFINISHED where an
 * earlier retry still runs, NOTHING_TO_RETRY
 */
export async function retryJob(dependencies: JobDependencies, jobId: string, options: RetryOptions): Promise<Retry> {
  for (;;) {
    try {
      return await retryOnce(dependencies, jobId, options);
    } catch (error) {
      if (!(error instanceof RetriedMeanwhile)) throw error;
    }
  }
}

/** What is left to retry was read before another retry, which has ended by now. */
class RetriedMeanwhile extends Error {}

/** @throws RetriedMeanwhile too */
async function retryOnce(
  dependencies: JobDependencies,
  jobId: string,
  { only, apiKeyId }: RetryOptions,
): Promise<Retry> {
  const { job, delivery, timeoutS, retries } = await readRetried(dependencies, jobId);
  if (!isFinished(job.status)) {
    throw conflict(
      "JOB_UNFINISHED",
      `Job ${jobId} is ${job.status}: it goes on by itself, and can be retried once it has ended`,
    );
  }
  const { proxy_id } = job.settings.config;
  if (proxy_id !== undefined) await requireProxy(dependencies.sql, proxy_id);
  const again = { ...asBefore(job), retryOf: jobId, apiKeyId, delivery, timeoutS };
  const { next, left } = await whatToRetry(dependencies, job, again, only);
  return { job: await createJob(dependencies, next, (tx) => admitOne(tx, jobId, retries)), left };
}

async function readRetried({ sql }: JobDependencies, jobId: string) {
  return await sql.begin(async (tx) => {
    const job = await lockJob(tx, jobId);
    if (job === undefined) throw new ApiError(404, `There is no job ${jobId}`, { code: "NOT_FOUND" });
    const [row] = await tx<{ delivery: "store" | null; timeoutS: number | null; retries: number }[]>`
      select case when delivery = 'store' then delivery end as delivery,
        extract(epoch from deadline_at - created_at)::float8 as "timeoutS",
        (select count(*)::int from jobs r where r.retry_of = ${jobId}) as retries
      from jobs where id = ${jobId}`;
    return { job, delivery: row?.delivery ?? null, timeoutS: row?.timeoutS ?? null, retries: row?.retries ?? 0 };
  });
}

type Again = Omit<NewJob, "kind" | "seeds" | "maxDepth" | "maxPages">;

async function whatToRetry(
  { sql }: JobDependencies,
  job: JobRow,
  again: Again,
  only: RetryOptions["only"],
): Promise<{ next: NewJob; left: number }> {
  const { id, kind, status, settings } = job;
  if (kind !== "pages" && kind !== "site") {
    throw conflict("NOTHING_TO_RETRY", `Job ${id} is of the kind ${kind}, which is started from its source`);
  }
  if (status === "cancelled") {
    throw conflict("NOTHING_TO_RETRY", `Job ${id} was cancelled: send its request again where it is wanted after all`);
  }
  if (status === "failed" && kind === "site") {
    const { seeds, max_depth: maxDepth, max_pages: maxPages } = settings;
    return { next: { ...again, kind, seeds, maxDepth, maxPages }, left: 0 };
  }
  const failed = await sql<{ url: string; total: number }[]>`
    select f.url, (count(*) over ())::int as total from frontier f left join captures c on c.id = f.capture_id
    where f.job_id = ${id} and ${status === "failed" && only === "all" ? sql`true` : sql`f.state = 'failed'`}
      and ${only === "all" ? sql`true` : sql`(f.error_code = 'DEAD_LETTERED' or c.error_retryable)`}
      and not exists (
        select from jobs r join frontier done on done.job_id = r.id and done.url_hash = f.url_hash
        where r.retry_of = ${id} and r.status = 'completed' and done.state = 'crawled')
    order by f.priority, f.url_hash limit ${MAX_RETRIED_URLS}`;
  const seeds = failed.map(({ url }) => url);
  if (seeds.length === 0) {
    const which = only === "all" ? "failed" : "failed for a reason that may have passed";
    throw conflict("NOTHING_TO_RETRY", `Job ${id} ${status}, and has no URL that ${which} and was not crawled since`);
  }
  const handling = { ...again.handling, replaces: "pages" as const };
  const next = { ...again, kind: "pages" as const, seeds, maxDepth: 0, maxPages: seeds.length, handling };
  return { next, left: (failed[0]?.total ?? 0) - seeds.length };
}

function asBefore({ settings, priority, collectionId }: JobRow): Again {
  const { scope, config, tags, strategy, keywords, score_threshold, max_pages_per_host } = settings;
  const { concurrency, index, replaces, restore_deleted, cache, cache_ttl_s, fields } = settings;
  return {
    scope,
    priority,
    config,
    order: { strategy, keywords, score_threshold, max_pages_per_host },
    handling: { concurrency, index, replaces, restore_deleted, cache, cache_ttl_s, fields },
    collectionId,
    tags,
    apiKeyId: null,
  };
}

/** Of two retries at once, the second finds that of the first: the job's row is locked until the new job is there. */
async function admitOne(tx: Transaction, jobId: string, retriesBefore: number): Promise<void> {
  await tx`select from jobs where id = ${jobId} for no key update`;
  const retries = await tx<{ id: string; running: boolean }[]>`
    select id, status in ('pending', 'running', 'embedding') as running from jobs where retry_of = ${jobId}`;
  const running = retries.find((each) => each.running);
  if (running === undefined && retries.length > retriesBefore) throw new RetriedMeanwhile();
  if (running === undefined) return;
  throw conflict("RETRY_UNFINISHED", `Job ${jobId} is being retried by job ${running.id}`, { job_id: running.id });
}

const conflict = (code: string, message: string, details?: Record<string, unknown>): ApiError =>
  new ApiError(409, message, { code, ...(details && { details }) });
