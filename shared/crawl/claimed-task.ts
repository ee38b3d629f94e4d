/** Fetch tasks made from claimed rows, and sent. */
import type { Transaction } from "../platform/database.ts";
import type { Logger } from "../platform/log.ts";
import type { QueueSender } from "../platform/queues.ts";
import { type FetchTask, fetchQueue, type PriorCapture } from "./fetch-task.ts";
import type { JobRow } from "./job-lifecycle.ts";
import { taskScope } from "./scope.ts";

/** A task to send once the transaction has committed. */
export interface ClaimedTask {
  task: FetchTask;
  /** For the queue, up to 900. */
  delayS: number;
}

/** A frontier row, as a task holds it. */
export interface TaskUrl {
  urlHash: string;
  url: string;
  host: string;
  depth: number;
  attempt: number;
  prior: PriorCapture | null;
}

/** @param urls of one host, at least one */
export function fetchTask(job: JobRow, taskId: string, urls: readonly TaskUrl[]): FetchTask {
  const host = urls[0]?.host ?? "";
  return {
    taskId,
    jobId: job.id,
    priority: job.priority,
    host,
    scope: taskScope(job.settings.scope, host),
    config: job.settings.config,
    deadline: job.deadlineAt?.getTime() ?? null,
    concurrency: job.settings.concurrency,
    urls: urls.map(({ url, urlHash, depth, attempt, prior }) => ({ url, urlHash, depth, attempt, prior })),
  };
}

/** In characters; 50 URLs and what is known of them must fit a message. */
const LONGEST_VALIDATOR = 1000;

/**
 * A subquery for the row `u` of the frontier: what a conditional request may be answered against: only where an active document of that URL and collection exists, so
 * that the answer 304 can carry it over.
 */
export function priorOf(tx: Transaction, job: Pick<JobRow, "collectionId">) {
  return tx`
    select json_build_object('etag', case when length(c.etag) <= ${LONGEST_VALIDATOR} then c.etag end, 'lastModified',
      case when length(c.last_modified) <= ${LONGEST_VALIDATOR} then c.last_modified end, 'payloadDigest', c.payload_digest,
      'captureId', c.id, 'recordId', c.warc_record_id, 'url', c.final_url,
      'fetchedAt', to_char(c.fetched_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as prior
    from documents d join captures c on c.id = d.capture_id
    where d.generation_active and d.deleted_at is null and d.url_hash = u.url_hash
      and coalesce(d.collection_id, '00000000-0000-0000-0000-000000000000')
        = coalesce(${job.collectionId}::uuid, '00000000-0000-0000-0000-000000000000')`;
}

/** Sends the tasks. To be called after the commit: a task that is lost here is sent again by the sweep. */
export async function dispatch(
  { queues, log }: { queues: QueueSender; log: Logger },
  tasks: readonly ClaimedTask[],
): Promise<void> {
  const lost = (error: unknown, some: readonly ClaimedTask[]): void =>
    log.warn("fetch tasks were not sent: the sweep sends them once their lease lapses", {
      error,
      job_id: some[0]?.task.jobId,
      task_ids: some.map(({ task }) => task.taskId),
    });
  const delayed = tasks.filter(({ delayS }) => delayS > 0);
  const ready = Map.groupBy(
    tasks.filter(({ delayS }) => delayS === 0),
    ({ task }) => fetchQueue(task.priority),
  );
  for (const [queue, some] of ready) {
    const messages = some.map(({ task }) => task);
    await queues.sendAll(queue, messages).catch((error: unknown) => lost(error, some));
  }
  for (const each of delayed) {
    const { task, delayS } = each;
    await queues.send(fetchQueue(task.priority), task, delayS).catch((error: unknown) => lost(error, [each]));
  }
}
