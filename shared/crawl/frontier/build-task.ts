/** Makes fetch tasks of claimed rows. */

import type { Transaction } from "../../platform/database/database.ts";
import type { JobRow } from "../jobs/lifecycle.ts";
import type { FetchTask, PriorCapture } from "../tasks/fetch-task.ts";
import { taskScope } from "../urls/scope.ts";
import { madeWithSettings } from "./same-settings.ts";

/** A task to send once the transaction has committed. */
export interface ClaimedTask {
  task: FetchTask;
  /** For the queue, up to 900. */
  delayS: number;
  /** The crawl cache is asked first: see ingest-cached.ts. */
  fromCache?: boolean;
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

/**
 * @param urls of one host, at least one
 * @param workers requests at once; null: as the fetcher is set
 */
export function fetchTask(job: JobRow, taskId: string, urls: readonly TaskUrl[], workers: number | null): FetchTask {
  const host = urls[0]?.host ?? "";
  // a response 304 holds no text to score links by
  const scored = job.settings.strategy === "best_first";
  return {
    taskId,
    jobId: job.id,
    priority: job.priority,
    host,
    scope: taskScope(job.settings.scope, host),
    config: job.settings.config,
    deadline: job.deadlineAt?.getTime() ?? null,
    concurrency: workers,
    announce: false,
    anchors: scored,
    deferrals: 0,
    urls: urls.map(({ url, urlHash, depth, attempt, prior }) => ({
      url,
      urlHash,
      depth,
      attempt,
      prior: scored && prior !== null ? { ...prior, etag: null, lastModified: null } : prior,
    })),
  };
}

/** In characters; 50 URLs and what is known of them must fit a message. */
const LONGEST_VALIDATOR = 1000;

/**
 * A subquery for the row `u` of the frontier: the response that a new one is compared with, so that an unchanged page
 * becomes a revisit of it. That is always the original: a capture that is itself a revisit, or whose response was used
 * again, leads to the one that holds the response. Not where that one is truncated or not archived.
 *
 * Validators, the latest that were heard, come along only where an active document of that URL and collection exists,
 * or of the URL that it was last redirected to, that was made with the same settings, so that a response 304 can carry
 * it over, and not where that was made in a browser; otherwise only the digest decides.
 */
export function priorOf(tx: Transaction, job: Pick<JobRow, "collectionId" | "settings">) {
  const last = tx`
    (select l.id, l.final_url_hash from captures l
     where l.url_hash = u.url_hash and l.status_code between 200 and 299 order by l.fetched_at desc limit 1)`;
  const active = tx`d.generation_active and d.deleted_at is null
    and coalesce(d.collection_id, '00000000-0000-0000-0000-000000000000')
      = coalesce(${job.collectionId}::uuid, '00000000-0000-0000-0000-000000000000')
    and exists (select from jobs j where j.id = d.job_id and ${madeWithSettings(tx, job.settings.config)})`;
  // what a browser made of a page may change though its HTML does not
  const carried = tx`known.active and coalesce(c.rendered->>'reason', 'pdf') = 'pdf'`;
  return tx`
    select json_build_object('etag', case when ${carried} and length(heard.etag) <= ${LONGEST_VALIDATOR} then heard.etag end,
      'lastModified',
      case when ${carried} and length(heard.last_modified) <= ${LONGEST_VALIDATOR} then heard.last_modified end,
      'payloadDigest', o.payload_digest, 'captureId', o.id, 'recordId',
      -- records of others may have any URI
      case when o.warc_record_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then o.warc_record_id end, 'url', o.final_url,
      'fetchedAt', to_char(o.fetched_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as prior
    from (
      select d.capture_id as id, true as active from documents d where d.url_hash = u.url_hash and ${active}
      union all
      select d.capture_id, true from ${last} l join documents d on d.url_hash = l.final_url_hash
      where l.final_url_hash <> u.url_hash and ${active}
      union all
      select l.id, false from ${last} l
    ) known
    join captures c on c.id = known.id
    left join captures reused on reused.id = c.reused_from
    join captures o on o.id = coalesce(c.revisit_of, reused.revisit_of, reused.id, c.id)
    left join lateral (
      select l.etag, l.last_modified from captures l
      where l.url_hash = u.url_hash and l.fetched_at >= o.fetched_at and (l.id = c.id or l.revisit_of = o.id)
      order by l.fetched_at desc limit 1
    ) latest on true
    cross join lateral (
      select coalesce(latest.etag, c.etag) as etag, coalesce(latest.last_modified, c.last_modified) as last_modified
    ) heard
    where o.warc_key is not null and not o.truncated
    order by known.active desc limit 1`;
}
