/**
 * The lease of a claim: whoever claims URLs for a task is responsible for them until it ends. Captures prolong it; the
 * sweep renews a lapsed one and sends the task again.
 */
import type { Transaction } from "../../platform/database/database.ts";
import type { JobRow } from "../jobs/lifecycle.ts";
import type { CrawlConfig } from "../settings/crawl-config.ts";
import { MAX_URLS_PER_TASK } from "../tasks/fetch-task.ts";
import { type ClaimedTask, fetchTask, priorOf, type TaskUrl } from "./build-task.ts";
import { claimShape, TASKS_PER_HOST } from "./claim-limits.ts";

/** Beyond the time that the requests themselves take. */
const LEASE_S = 120;
/** Requests a second that the lease reckons with where the job names no rate. */
const ASSUMED_RPS = 1;

/** For a page that waits for a browser and is opened in it, where others wait too, in seconds. */
const RENDERING_S = 30;

const LARGEST_LEASE_FACTOR = 16;
/** Sendings of one task without progress before its URLs end as DEAD_LETTERED: some hours. */
export const MAX_SENDS = 8;

/**
 * How long a task may take before it counts as lost, in seconds: the tasks of a host share its rate. A lease that
 * lapses too early has nothing fetched twice, since the task knows what it has fetched; but who lapses too often is
 * given up.
 */
export function leaseSeconds(
  urls: number,
  { rate_limit_rps, render }: Pick<CrawlConfig, "rate_limit_rps" | "render">,
  tasksPerHost = TASKS_PER_HOST,
): number {
  const rendering = render === "never" ? 0 : urls * RENDERING_S;
  return Math.ceil(LEASE_S + rendering + (tasksPerHost * urls) / (rate_limit_rps ?? ASSUMED_RPS));
}

/** Of any task of the job. */
const fullLease = (job: JobRow): number =>
  leaseSeconds(MAX_URLS_PER_TASK, job.settings.config, Math.max(TASKS_PER_HOST, claimShape(job).tasksPerHost));

/**
 * The task makes progress: what is left of it gets a full lease again. Rows that another batch of the task has locked
 * are left out: they are just ending, and their transaction may wait for the job's row, which the caller holds.
 */
export async function prolongLease(tx: Transaction, job: JobRow, taskId: string): Promise<void> {
  const lease = fullLease(job);
  await tx`
    update frontier set lease_until = greatest(lease_until, statement_timestamp() + ${lease} * interval '1 second'), sends = 1
    where job_id = ${job.id} and url_hash in (
      select url_hash from frontier where job_id = ${job.id} and state = 'claimed' and task_id = ${taskId}
      for update skip locked)`;
}

/**
 * Makes the task of a lapsed lease once more, from its outstanding rows. Its lease grows with each sending, since it
 * may have lapsed only because the queue is long.
 * @returns undefined where nothing is outstanding any more
 */
export async function renewTask(tx: Transaction, job: JobRow, taskId: string): Promise<ClaimedTask | undefined> {
  const lease = fullLease(job);
  const { count } = await tx`
    update frontier set sends = sends + 1,
      lease_until = statement_timestamp() + least(${LARGEST_LEASE_FACTOR}, 2 ^ sends) * ${lease} * interval '1 second'
    where job_id = ${job.id} and url_hash in (
      select url_hash from frontier
      where job_id = ${job.id} and state = 'claimed' and task_id = ${taskId} and lease_until < statement_timestamp()
      for update skip locked)`;
  // another sweep was quicker, or the task has just answered
  return count === 0 ? undefined : await readTask(tx, job, taskId);
}

/**
 * Reads the task as it stands: with its outstanding URLs.
 * @returns undefined where there are none
 */
export async function readTask(tx: Transaction, job: JobRow, taskId: string): Promise<ClaimedTask | undefined> {
  const outstanding = await tx<(TaskUrl & { workers: number | null })[]>`
    select encode(u.url_hash, 'hex') as "urlHash", u.url, u.host, u.depth, u.attempt, u.workers, prior.prior
    from frontier u left join lateral (${priorOf(tx, job)}) prior on true
    where u.job_id = ${job.id} and u.state = 'claimed' and u.task_id = ${taskId}
    order by u.priority`;
  const [first] = outstanding;
  return first && { task: { ...fetchTask(job, taskId, outstanding, first.workers), deferrals: null }, delayS: 0 };
}

/** All tasks of the job that are under way. */
export async function readTasks(tx: Transaction, job: JobRow): Promise<ClaimedTask[]> {
  const rows = await tx<{ taskId: string }[]>`
    select distinct task_id as "taskId" from frontier where job_id = ${job.id} and state = 'claimed'`;
  const tasks: ClaimedTask[] = [];
  for (const { taskId } of rows) {
    const task = await readTask(tx, job, taskId);
    if (task !== undefined) tasks.push(task);
  }
  return tasks;
}
