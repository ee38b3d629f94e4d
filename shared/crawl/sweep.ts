/**
 * The sweep: rows are the truth and messages are hints, so what a lost message asked for is found in the rows and asked for
 * again. A marker says whether any job is unfinished; without it the database is left alone, and may pause.
 */
import { inTransaction, type Sql } from "../platform/database.ts";
import { sendEmbedTasks } from "./advance-job.ts";
import { MAX_SENDS, renewTask } from "./claim-lease.ts";
import { dispatch } from "./claimed-task.ts";
import { SWEEP } from "./crawl-metrics.ts";
import { resumeDiscoveries } from "./discovery/lost-discoveries.ts";
import { lockJob, peekJob, settleJob } from "./job-lifecycle.ts";
import { cancelJob, type JobDependencies } from "./jobs.ts";
import { endLostUrls, giveUpTask, resumeJob } from "./lost-work.ts";
import { type RedriveDependencies, redriveLetters } from "./redrive.ts";
import { endLateJob, lateJobs } from "./time-limit.ts";
import { isUnwatched, unwatchedJobs } from "./watch.ts";

/** Longest that a job takes from setting the marker to its commit. */
const MARKER_GRACE_MS = 120_000;
/** After the last job, for maintenance to find the database awake once more. */
const AFTERMATH = "6 minutes";
/** Without progress for so long, a job's messages may be lost. */
const STALLED_JOB = "1 minute";
const STALLED_EMBEDDING = "2 minutes";
/** Fetch answers within seconds of a cancel. What has not been heard of since waits: in a queue, for its host. */
const CANCELLED_AND_SILENT = "30 seconds";
const MOST_TASKS = 500;
const MOST_JOBS = 500;
/** Chunks of one job that are sent again at once. */
const MOST_CHUNKS = 1024;

export interface Swept {
  /** False where the marker says that no job is unfinished. */
  awake: boolean;
  renewedTasks: number;
  endedUrls: number;
  resumedJobs: number;
  resentChunks: number;
  /** Discovery jobs that were sent again. */
  resentDiscoveries: number;
  /** Their time was up. */
  lateJobs: number;
  /** Nobody listened to them any more. */
  unwatchedJobs: number;
  redrivenLetters: number;
}

/** @param remainingMs how long the sweep may still take: it stops early, and the next one goes on */
export async function sweep(
  dependencies: JobDependencies & RedriveDependencies,
  now: number,
  remainingMs: () => number = () => Number.POSITIVE_INFINITY,
): Promise<Swept> {
  const { sql, flags, log } = dependencies;
  const swept: Swept = {
    awake: false,
    renewedTasks: 0,
    endedUrls: 0,
    resumedJobs: 0,
    resentChunks: 0,
    resentDiscoveries: 0,
    lateJobs: 0,
    unwatchedJobs: 0,
    redrivenLetters: 0,
  };
  const since = await flags.activeSince();
  if (since === undefined) return swept;
  swept.awake = true;
  const hasTime = () => remainingMs() > 10_000;
  for (const jobId of await unwatchedJobs(sql)) {
    if (!hasTime()) break;
    await apart(dependencies, jobId, async () => {
      const ended = await cancelJob(dependencies, jobId, (tx) => isUnwatched(tx, jobId));
      if (ended === "cancelled") swept.unwatchedJobs++;
    });
  }
  for (const jobId of await lateJobs(sql)) {
    if (!hasTime()) break;
    await apart(dependencies, jobId, () => endLateJob(dependencies, jobId));
    swept.lateJobs++;
  }
  for (const lapsed of await lapsedTasks(sql)) {
    if (!hasTime()) break;
    await apart(dependencies, lapsed.jobId, async () => {
      if (lapsed.sends >= MAX_SENDS) {
        swept.endedUrls += await giveUpTask(dependencies, lapsed.jobId, lapsed.taskId);
      } else if (await sendAgain(dependencies, lapsed)) swept.renewedTasks++;
    });
  }
  const letters = await redriveLetters(dependencies, hasTime);
  swept.redrivenLetters = letters.redriven;
  swept.endedUrls += letters.endedUrls;
  for (const { jobId, taskId } of await cancelledTasks(sql)) {
    if (!hasTime()) break;
    await apart(dependencies, jobId, async () => {
      // who cancelled it may have ended before it could tell fetch
      await flags.markCancelled(jobId);
      swept.endedUrls += await endLostUrls(dependencies, jobId, taskId, null);
    });
  }
  for (const jobId of await stalledJobs(sql)) {
    if (!hasTime()) break;
    await apart(dependencies, jobId, () => resumeJob(dependencies, jobId));
    swept.resumedJobs++;
  }
  for (const jobId of await stalledEmbeddings(sql)) {
    if (!hasTime()) break;
    await apart(dependencies, jobId, async () => {
      swept.resentChunks += await resendChunks(dependencies, jobId);
    });
  }
  const discoveries = await resumeDiscoveries(dependencies, hasTime);
  swept.resentDiscoveries = discoveries.resent;
  if (now - since > MARKER_GRACE_MS && (await isIdle(sql))) await flags.clearActive(since);
  const values = {
    renewed_tasks: swept.renewedTasks,
    ended_urls: swept.endedUrls,
    resumed_jobs: swept.resumedJobs,
    resent_chunks: swept.resentChunks,
    redriven_letters: swept.redrivenLetters,
  };
  log.measure("swept", { ...swept, ...SWEEP.fields({}, values, now) });
  return swept;
}

/** One job's fault must not keep the sweep from the others. */
async function apart({ log }: JobDependencies, jobId: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error("the sweep could not go on with a job: the next one tries again", { error, job_id: jobId });
  }
}

interface OwedTask {
  jobId: string;
  taskId: string;
}

/** Of cancelled jobs: they make no request any more, whenever their messages come. */
async function cancelledTasks(sql: Sql): Promise<OwedTask[]> {
  return await sql<OwedTask[]>`
    select distinct f.job_id as "jobId", f.task_id as "taskId"
    from jobs j join frontier f on f.job_id = j.id and f.state = 'claimed'
    where j.status in ('pending', 'running', 'embedding') and j.cancel_requested
      and (j.updated_at < now() - ${CANCELLED_AND_SILENT}::interval or f.lease_until < now())
    limit ${MOST_TASKS}`;
}

interface LapsedTask extends OwedTask {
  sends: number;
}

async function lapsedTasks(sql: Sql): Promise<LapsedTask[]> {
  return await sql<LapsedTask[]>`
    select f.job_id as "jobId", f.task_id as "taskId", max(f.sends)::int as sends
    from frontier f join jobs j on j.id = f.job_id
    where f.state = 'claimed' and f.lease_until < now() and not j.cancel_requested
      -- these wait for their message to be sent again
      and not exists (select from dead_letters l where l.task_id = f.task_id and l.state = 'waiting')
    group by f.job_id, f.task_id
    order by min(f.lease_until) limit ${MOST_TASKS}`;
}

async function sendAgain(dependencies: JobDependencies, { jobId, taskId }: LapsedTask): Promise<boolean> {
  const claimed = await inTransaction(dependencies.sql, async (tx) => {
    const job = await peekJob(tx, jobId);
    return job && (await renewTask(tx, job, taskId));
  });
  if (claimed === undefined) return false;
  await dispatch(dependencies, [claimed]);
  return true;
}

async function stalledJobs(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from jobs
    where status in ('pending', 'running', 'embedding') and updated_at < now() - ${STALLED_JOB}::interval
      and (open_urls > 0 or unembedded_chunks = 0 or status <> 'embedding')
    order by updated_at limit ${MOST_JOBS}`;
  return rows.map((row) => row.id);
}

async function stalledEmbeddings(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from jobs
    where status in ('pending', 'running', 'embedding') and unembedded_chunks > 0 and not cancel_requested
      and updated_at < now() - ${STALLED_EMBEDDING}::interval
    order by updated_at limit ${MOST_JOBS}`;
  return rows.map((row) => row.id);
}

/** @returns how many chunks were sent again */
async function resendChunks(dependencies: JobDependencies, jobId: string): Promise<number> {
  const chunkIds = await inTransaction(dependencies.sql, async (tx) => {
    const job = await lockJob(tx, jobId);
    if (job === undefined) return [];
    const pending = await tx<{ id: string }[]>`
      select c.id from documents d join chunks c on c.document_id = d.id join embeddings e on e.chunk_id = c.id
      where d.generation_id = ${job.generationId} and e.state = 'pending'
      order by c.id limit ${MOST_CHUNKS}`;
    await tx`update jobs set updated_at = now() where id = ${jobId}`;
    if (pending.length === 0) {
      // chunks may go with their documents, while they wait
      dependencies.log.warn("no chunk of the job waits for its vector any more", { job_id: jobId });
      await tx`update jobs set unembedded_chunks = 0 where id = ${jobId}`;
      await settleJob(tx, jobId, dependencies.log);
    }
    return pending.map((chunk) => chunk.id);
  });
  if (chunkIds.length > 0) await sendEmbedTasks(dependencies, jobId, chunkIds);
  return chunkIds.length;
}

/** No job is unfinished, and maintenance has had its turn since the last one. */
async function isIdle(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ idle: boolean }[]>`
    select not exists (select from jobs where status in ('pending', 'running', 'embedding'))
      and not exists (select from discovery_jobs where status in ('pending', 'running'))
      and not exists (select from jobs where completed_at > now() - ${AFTERMATH}::interval)
      and not exists (select from documents where not generation_active)
      and not exists (select from dead_letters where state = 'waiting')
      and not exists (select from domain_settings where applied_revision < revision) as idle`;
  return row?.idle === true;
}
