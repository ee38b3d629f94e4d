/**
 * Gives a job the entries of its source's list that are new or have changed. Each entry keeps the version that it was
 * crawled with, so that what does not fit into one run is due at the next, also where the list does not change.
 */
import type { ObjectStore } from "../../platform/aws/objects.ts";
import { inTransaction, type Transaction } from "../../platform/database/database.ts";
import { rowsOf, storableJson } from "../../platform/database/rows.ts";
import { failListJob } from "../discovery/jobs.ts";
import type { Listed, ListReport } from "../discovery/list-task.ts";
import { readListed } from "../discovery/result.ts";
import type { Discovered } from "../discovery/task.ts";
import { claimUrls } from "../frontier/claim.ts";
import { dispatch } from "../frontier/dispatch.ts";
import { addUrls, seedUrl } from "../frontier/frontier.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { isFinished, type JobRow, lockJob, settleJob } from "../jobs/lifecycle.ts";
import { keyRules, normalizeUrl, urlHash } from "../urls/normalize-url.ts";
import { LISTED_WITHIN } from "./forget-entries.ts";

/** Jobs that are given an entry which none of them captures: it is left alone then until its version changes. */
const MOST_TRIES = 3;

type ListRead = Extract<Discovered, { event: "listed" }>;

/**
 * Idempotent: the first report counts.
 * @returns whether this changed anything
 */
export async function takeList(
  dependencies: JobDependencies & { objects: ObjectStore },
  message: ListRead,
): Promise<boolean> {
  const { sql, objects, log } = dependencies;
  const { jobId } = message;
  const listed = message.resultKey === null ? undefined : await readListed(objects, message.resultKey);
  const error = message.error ?? (listed === undefined ? "LOST: What its list names has expired" : null);
  const { taken, tasks } = await inTransaction(sql, async (tx) => {
    const { count } = await tx`
      update discovery_jobs set status = ${error === null ? "completed" : "failed"}, error = ${error},
        urls_found = ${message.entries}, result_key = ${message.resultKey},
        notes = ${rowsOf(message.notes)}::text::jsonb, completed_at = now()
      where id = ${jobId} and status in ('pending', 'running')`;
    if (count === 0) return { taken: false, tasks: [] };
    if (listed === undefined || error !== null) {
      await report(tx, jobId, reportOf(message, 0, 0));
      await failListJob(tx, log, jobId, error ?? "");
      return { taken: true, tasks: [] };
    }
    const sourceId = await lockSource(tx, jobId);
    const job = await lockJob(tx, jobId);
    if (sourceId === undefined || job === undefined || isFinished(job.status)) return { taken: true, tasks: [] };
    await noteListed(tx, sourceId, job, listed);
    const due = await takeDue(tx, sourceId, job);
    const left = await leftOf(tx, sourceId);
    await tx`update jobs set awaits_list = false where id = ${jobId}`;
    await report(tx, jobId, reportOf(message, due.length, left));
    await addUrls(tx, job, due.map(seedUrl));
    const claimed = await claimUrls(tx, job, null);
    if (job.counts.open === 0) await settleJob(tx, jobId, log);
    return { taken: true, tasks: claimed };
  });
  await dispatch(dependencies, tasks);
  return taken;
}

/** Before its job's row, in the order of whoever begins jobs; undefined where it is gone. */
async function lockSource(tx: Transaction, jobId: string): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`
    select s.id from crawl_sources s join jobs j on j.crawl_source_id = s.id where j.id = ${jobId}
    for no key update of s`;
  return row?.id;
}

async function noteListed(tx: Transaction, sourceId: string, job: JobRow, listed: Listed): Promise<void> {
  const rules = keyRules(job.settings.config);
  const entries = listed.entries.map(({ url, version, dated }) => {
    const page = normalizeUrl(url, rules);
    return { hash: urlHash(page), url: page, version, dated: dated === null ? null : new Date(dated).toISOString() };
  });
  // by these rules two may be one
  const unique = [...new Map(entries.map((each) => [each.hash, each])).values()].map((each, position) => ({
    ...each,
    position,
  }));
  await tx`
    insert into crawl_source_entries as known (source_id, url_hash, url, version, dated, position, last_listed_at)
    select ${sourceId}, decode(hash, 'hex'), url, version, dated, position, statement_timestamp()
    from json_to_recordset(${rowsOf(unique)}::text::json)
      as r (hash text, url text, version text, dated timestamptz, position int)
    on conflict (source_id, url_hash) do update
      set version = excluded.version, dated = excluded.dated, last_listed_at = excluded.last_listed_at,
        tries = case when known.version is distinct from excluded.version then 0 else known.tries end
      -- not at each run, which would write all entries anew
      where known.version is distinct from excluded.version
        or known.last_listed_at < excluded.last_listed_at - ${LISTED_WITHIN}::interval`;
  await noteDocuments(tx, sourceId, listed);
}

async function noteDocuments(tx: Transaction, sourceId: string, { documents }: Listed): Promise<void> {
  await tx`
    update crawl_source_lists set gone_at = statement_timestamp()
    where source_id = ${sourceId} and gone_at is null and url <> all(${documents.map(({ url }) => url)}::text[])`;
  await tx`
    insert into crawl_source_lists as known (source_id, url, etag, last_modified, digest, named, read_at)
    select distinct on (url) ${sourceId}::uuid, url, etag, last_modified, digest, named, statement_timestamp()
    from json_to_recordset(${rowsOf(documents)}::text::json)
      as r (url text, etag text, last_modified text, digest text, named text)
    on conflict (source_id, url) do update
      set etag = excluded.etag, last_modified = excluded.last_modified, digest = excluded.digest, named = excluded.named,
        gone_at = null,
        -- where it is as it was its entries were not listed again
        read_at = case when known.digest = excluded.digest and known.gone_at is null
          then known.read_at else excluded.read_at end`;
}

/** @returns the URLs, the newest first; those without a date behind them, in the order of the list */
async function takeDue(tx: Transaction, sourceId: string, job: JobRow): Promise<string[]> {
  // what earlier jobs were given, and have captured
  await tx`
    update crawl_source_entries e set job_id = null, tries = 0
    where source_id = ${sourceId} and job_id is not null and exists (
      select from captures c where c.job_id = e.job_id and c.url_hash = e.url_hash and c.error_code is null)`;
  await tx`
    update crawl_source_entries set taken = null, job_id = null
    where source_id = ${sourceId} and job_id is not null and tries < ${MOST_TRIES}`;
  // somebody else crawled it for the same collection, after it changed
  await tx`
    update crawl_source_entries e set taken = version
    where source_id = ${sourceId} and taken is distinct from version and dated is not null and exists (
      select from captures c join jobs j on j.id = c.job_id
      where c.url_hash = e.url_hash and c.fetched_at > e.dated and c.error_code is null
        and j.collection_id is not distinct from ${job.collectionId})`;
  const rows = await tx<{ url: string; place: string }[]>`
    with due as (
      select url_hash, row_number() over (order by least(dated, now()) desc nulls last, first_listed_at, position) as place
      from crawl_source_entries
      where source_id = ${sourceId} and taken is distinct from version
      order by place limit ${job.settings.max_pages})
    update crawl_source_entries e set taken = version, job_id = ${job.id}, tries = tries + 1
    from due where e.source_id = ${sourceId} and e.url_hash = due.url_hash
    returning e.url, due.place`;
  return rows.sort((a, b) => Number(a.place) - Number(b.place)).map(({ url }) => url);
}

async function leftOf(tx: Transaction, sourceId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from crawl_source_entries
    where source_id = ${sourceId} and taken is distinct from version`;
  return row?.count ?? 0;
}

function reportOf(message: ListRead, taken: number, left: number): ListReport {
  const { documentsRead, documentsUnchanged, entries, notes } = message;
  return { documents_read: documentsRead, documents_unchanged: documentsUnchanged, entries, taken, left, notes };
}

async function report(tx: Transaction, jobId: string, list: ListReport): Promise<void> {
  await tx`update jobs set list_report = ${storableJson(list)}::text::jsonb where id = ${jobId}`;
}
