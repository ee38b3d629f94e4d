/** Finds the work that rows still ask for although nobody may be doing it: the queries of the sweep. */
import type { Sql } from "../../platform/database/database.ts";
import type { Priority } from "../settings/job-settings.ts";

/** After the last job, for maintenance to find the database awake once more. */
const AFTERMATH = "6 minutes";
/** Without progress for so long, a job's messages may be lost. */
const STALLED_JOB = "1 minute";
const STALLED_EMBEDDING = "2 minutes";
/** A message of the embed queues is delivered for some eight minutes: after these it has come to its end. */
const EMBED_MESSAGE_LIFE = "10 minutes";
/** Without a single new vector for so long, a job that waits for nothing else completes, and its vectors follow. */
const LONGEST_WAIT_FOR_VECTORS = "10 minutes";
/** Fetch answers within seconds of a cancel. What has not been heard of since waits: in a queue, for its host. */
const CANCELLED_AND_SILENT = "30 seconds";
const MOST_TASKS = 500;
const MOST_JOBS = 500;

interface OutstandingTask {
  jobId: string;
  taskId: string;
}

/** Of cancelled jobs: they make no request any more, whenever their messages come. */
export async function cancelledTasks(sql: Sql): Promise<OutstandingTask[]> {
  return await sql<OutstandingTask[]>`
    select distinct f.job_id as "jobId", f.task_id as "taskId"
    from jobs j join frontier f on f.job_id = j.id and f.state = 'claimed'
    where j.status in ('pending', 'running', 'embedding') and j.cancel_requested
      and (j.updated_at < now() - ${CANCELLED_AND_SILENT}::interval or f.lease_until < now())
    limit ${MOST_TASKS}`;
}

export interface LapsedTask extends OutstandingTask {
  sends: number;
}

export async function lapsedTasks(sql: Sql): Promise<LapsedTask[]> {
  return await sql<LapsedTask[]>`
    select f.job_id as "jobId", f.task_id as "taskId", max(f.sends)::int as sends
    from frontier f join jobs j on j.id = f.job_id
    where f.state = 'claimed' and f.lease_until < now() and not j.cancel_requested
      -- these wait for their message to be sent again
      and not exists (select from dead_letters l where l.task_id = f.task_id and l.state = 'waiting')
    group by f.job_id, f.task_id
    order by min(f.lease_until) limit ${MOST_TASKS}`;
}

export async function stalledJobs(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from jobs
    where status in ('pending', 'running', 'embedding') and updated_at < now() - ${STALLED_JOB}::interval
      and (open_urls > 0 or unembedded_chunks = 0 or status <> 'embedding')
      -- its discovery is looked after
      and not awaits_list
    order by updated_at limit ${MOST_JOBS}`;
  return rows.map((row) => row.id);
}

/** Jobs whose chunks wait for their vectors, completed ones too. */
export async function stalledEmbeddings(sql: Sql): Promise<{ id: string; priority: Priority; silent: boolean }[]> {
  return await sql<{ id: string; priority: Priority; silent: boolean }[]>`
    select id, priority, updated_at < now() - ${EMBED_MESSAGE_LIFE}::interval as silent from jobs
    where (status in ('pending', 'running', 'embedding') and not cancel_requested or status = 'completed')
      and unembedded_chunks > 0 and updated_at < now() - ${STALLED_EMBEDDING}::interval
    order by updated_at limit ${MOST_JOBS}`;
}

/** Jobs that only wait for vectors, in vain. */
export async function jobsWithoutVectors(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from jobs
    where status = 'embedding' and unembedded_chunks > 0 and not cancel_requested
      and greatest(crawl_ended_at, embedding_progress_at) < now() - ${LONGEST_WAIT_FOR_VECTORS}::interval
    order by crawl_ended_at limit ${MOST_JOBS}`;
  return rows.map((row) => row.id);
}

/** No job is unfinished, all snapshots are indexed and compared, and maintenance has run since the last one. */
export async function isIdle(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ idle: boolean }[]>`
    select not exists (select from jobs where status in ('pending', 'running', 'embedding'))
      and not exists (select from discovery_jobs where status in ('pending', 'running'))
      and not exists (select from exports where status in ('pending', 'running'))
      and not exists (select from changes_due)
      and not exists (select from crawl_sources where schedule_pending)
      and not exists (select from webhook_deliveries where status = 'pending')
      and not exists (select from snapshots_due)
      and not exists (select from changes_backfill where next_id < last_id)
      and not exists (
        select from archive_jobs where status in ('queued', 'running', 'retryable', 'completed', 'indexing'))
      and not exists (select from edition_previews where status in ('due', 'ordered'))
      and not exists (select from warc_runs where status in ('pending', 'running'))
      and not exists (select from jobs where status = 'completed' and unembedded_chunks > 0)
      and not exists (
        -- the others are kept for a day
        select from embedding_models where state = 'leaving' and changed_at not between now() - interval '1 day' and now() - interval '10 minutes')
      and not exists (
        select from chunk_sets where state = 'dropped' or state = 'coming' and not paused
          or state = 'leaving' and changed_at not between now() - interval '1 day' and now() - interval '10 minutes')
      and not exists (select from jobs where completed_at > now() - ${AFTERMATH}::interval)
      and not exists (
        select from documents d where not d.generation_active and not exists (
          select from generations g where g.id = d.generation_id and g.cleaned_at is null))
      and not exists (select from dead_letters where state = 'waiting')
      and not exists (select from domain_settings where applied_revision < revision) as idle`;
  return row?.idle === true;
}
