/**
 * Ingests a task that the crawl cache answers in place of fetch: its URLs get captures that repeat earlier ones and say
 * so. What the cache does not have any more goes on to fetch as the same task.
 */
import { z } from "zod";
import { type CarriedOver, carryOver } from "../../knowledge/embedding/carry-over.ts";
import { inTransaction, type Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { readTask } from "../frontier/claim-lease.ts";
import { findReusable, type Reusable } from "../frontier/crawl-cache.ts";
import { type ClaimedUrl, lockTask } from "../frontier/frontier.ts";
import { peekJob } from "../jobs/lifecycle.ts";
import { advanceJob, type EndedPage } from "./advance-job.ts";
import type { IngestDependencies } from "./dependencies.ts";
import { indexTarget } from "./index-pages.ts";
import { ANSWERED_BEFORE, type Ingested, passedOn, recordIngested, sendFollowUps } from "./ingested.ts";

/** Message of the `captures` queue: the URLs of the task are looked up in the crawl cache. */
export const cachedTaskSchema = z.strictObject({ jobId: z.uuid(), taskId: z.uuid(), fromCache: z.literal(true) });
export type CachedTask = z.infer<typeof cachedTaskSchema>;

/** Idempotent: URLs that the task is not responsible for any more are left alone. */
export async function ingestFromCache(dependencies: IngestDependencies, { jobId, taskId }: CachedTask): Promise<void> {
  const started = performance.now();
  const ingested = await inTransaction(dependencies.sql, (tx) => reuseCaptures(tx, dependencies, jobId, taskId));
  recordIngested(dependencies.log, jobId, ingested, started, { task_id: taskId });
  await sendFollowUps(dependencies, jobId, ingested);
}

async function reuseCaptures(
  tx: Transaction,
  { embedding, log }: IngestDependencies,
  jobId: string,
  taskId: string,
): Promise<Ingested> {
  const [job, outstanding] = await Promise.all([peekJob(tx, jobId), lockTask(tx, jobId, taskId)]);
  if (job === undefined || outstanding.length === 0) return ANSWERED_BEFORE;
  const found = await findReusable(
    tx,
    job,
    outstanding.filter(({ attempt }) => attempt === 0).map(({ urlHash }) => urlHash),
  );
  if (found.length === 0) {
    const task = await readTask(tx, job, taskId);
    return passedOn(task === undefined ? [] : [task]);
  }
  const urls = new Map(outstanding.map((url) => [url.urlHash, url]));
  const reused = found.map((each) => ({ ...each, url: urls.get(each.urlHash) as ClaimedUrl }));
  const ids = await repeatCaptures(tx, jobId, reused);
  const carried = job.cancelRequested || !job.settings.index ? [] : reused.flatMap(carriedOver);
  const indexed = await carryOver(tx, indexTarget(job, embedding !== null), carried);
  const pages = reused.map(
    ({ urlHash, url, finalUrl, document }): EndedPage => ({
      url,
      captureId: ids.get(urlHash) as number,
      outcome: { state: "crawled", errorCode: null, waitMs: 0, givesBudgetBack: false },
      finalUrl,
      links: document?.links ?? [],
      payloadBytes: 0,
      reused: true,
    }),
  );
  const advanced = await advanceJob(tx, {
    begunAt: new Date(),
    job,
    taskId,
    pages,
    indexed,
    embeds: embedding !== null,
    log,
  });
  const rest = await readTask(tx, job, taskId);
  return { ...advanced, tasks: rest === undefined ? advanced.tasks : [rest, ...advanced.tasks] };
}

function carriedOver({ document, url, fetchedAt }: Reusable & { url: ClaimedUrl }): CarriedOver[] {
  if (document === null) return [];
  return [{ document, parentUrl: url.discoveredFrom, crawledAt: fetchedAt.toISOString() }];
}

/**
 * Writes captures of the job that repeat the given ones: when the page was seen stays as it was, no time was spent on
 * it, and `reused_from` names the capture of the request.
 * @returns their ids, by URL hash
 */
async function repeatCaptures(
  tx: Transaction,
  jobId: string,
  reused: readonly (Reusable & { url: ClaimedUrl })[],
): Promise<Map<string, number>> {
  if (reused.length === 0) return new Map();
  const rows = reused.map(({ captureId, url }) => ({ id: captureId, url: url.url, depth: url.depth }));
  const inserted = await tx<{ id: number; hash: string }[]>`
    insert into captures (job_id, url, url_hash, final_url, final_url_hash, canonical_url, redirects, depth, status_code,
      headers, mime_type, charset, language, title, etag, last_modified, fetched_at, fetch_time_ms, payload_bytes,
      payload_digest, truncated, not_modified, warc_key, warc_offset, warc_length, warc_record_id, revisit_of, reused_from,
      rendered, batch_key, batch_index, not_indexed, disallowed)
    select ${jobId}, r.url, c.url_hash, c.final_url, c.final_url_hash, c.canonical_url, c.redirects, r.depth, c.status_code,
      c.headers, c.mime_type, c.charset, c.language, c.title, c.etag, c.last_modified, c.fetched_at, 0, c.payload_bytes,
      c.payload_digest, c.truncated, c.not_modified, c.warc_key, c.warc_offset, c.warc_length, c.warc_record_id,
      c.revisit_of, coalesce(c.reused_from, c.id), c.rendered, c.batch_key, c.batch_index, c.not_indexed, c.disallowed
    from json_to_recordset(${rowsOf(rows)}::text::json) as r (id bigint, url text, depth int)
    join captures c on c.id = r.id
    order by r.id
    returning id, encode(url_hash, 'hex') as hash`;
  return new Map(inserted.map((row) => [row.hash, row.id]));
}
