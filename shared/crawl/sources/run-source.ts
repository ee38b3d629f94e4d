/** Begins jobs for sources: one at a time for each. */
import type { Queryable, Transaction } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import { effectiveConfig } from "../administration/effective-config.ts";
import type { ListReport, WantedList } from "../discovery/list-task.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { type JobView, jobColumns } from "../jobs/views.ts";
import { createJob, type NewJob } from "../submit/create-job.ts";
import { ANYWHERE } from "../urls/scope.ts";
import { scopeOfSeeds } from "../urls/scope-of-seeds.ts";
import { noteListDue, sendList } from "./read-list.ts";
import type { CrawlSource } from "./sources.ts";

export type SourceRun = JobView & { list: ListReport | null };

type Admission = (tx: Transaction) => Promise<void>;

/**
 * Crawls a source now.
 * @param id of the job, where it must have one: the job with this id is the one
 * @param admit runs first in the job's transaction, behind the lock of the source's row
 * @throws ApiError 409 RUN_UNFINISHED while its latest job runs; 404 where it, its config or its collection is gone;
 * and as `createJob`
 */
export async function runSource(
  dependencies: JobDependencies,
  source: CrawlSource,
  { id, apiKeyId, admit }: { id?: string | undefined; apiKeyId: string | null; admit?: Admission },
): Promise<JobView> {
  const { sql } = dependencies;
  const { config_id, config, collection_id, tags, priority } = source.options;
  const effective = await effectiveConfig(sql, config_id ?? undefined, config, collection_id);
  const jobId = id ?? uuidv7();
  const job: NewJob = {
    id: jobId,
    ...crawlOf(source),
    config: effective,
    // an earlier run's captures would be what it is to look for changes of
    handling: { cache: "bypass" },
    collectionId: collection_id,
    tags,
    priority,
    apiKeyId,
    crawlSourceId: source.id,
  };
  const list = wantedList(source);
  const begun = await createJob(dependencies, job, async (tx) => {
    await admitRun(tx, source.id);
    await admit?.(tx);
    if (list !== null) await noteListDue(tx, jobId, list, apiKeyId);
    await tx`update crawl_sources set last_crawled_at = now(), last_error = null where id = ${source.id}`;
  });
  if (list !== null) await sendList(dependencies, begun.job_id);
  return begun;
}

/**
 * Jobs of a source, newest first.
 * @param after id of the last job seen
 */
export async function listRuns(
  sql: Queryable,
  sourceId: string,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<SourceRun[]> {
  return await sql<SourceRun[]>`
    select ${jobColumns(sql)}, list_report as list from jobs
    where crawl_source_id = ${sourceId} and ${after === undefined ? sql`true` : sql`id < ${after}`}
    order by id desc limit ${limit}`;
}

function wantedList({ type, url, options: { list } }: CrawlSource): WantedList | null {
  if (list === null || (type !== "feed" && type !== "sitemap")) return null;
  return { type, url, include: list.include, exclude: list.exclude };
}

function crawlOf({
  type,
  url,
  options,
}: CrawlSource): Pick<NewJob, "kind" | "seeds" | "scope" | "maxDepth" | "maxPages" | "awaitsList"> {
  const { site, list } = options;
  if (list !== null) {
    const maxPages = list.max_entries;
    return { kind: "pages", seeds: [url], scope: ANYWHERE, maxDepth: 0, maxPages, awaitsList: true };
  }
  if (type === "page" || site === null) {
    return { kind: "pages", seeds: [url], scope: ANYWHERE, maxDepth: 0, maxPages: 1 };
  }
  const { scope, include, exclude, max_depth: maxDepth, max_pages: maxPages } = site;
  return {
    kind: "site",
    seeds: [url],
    scope: scopeOfSeeds([url], { mode: scope, include, exclude }),
    maxDepth,
    maxPages,
  };
}

/** Of two at once, the second finds the job of the first: the source's row is locked until that is there. */
async function admitRun(tx: Transaction, sourceId: string): Promise<void> {
  const [row] = await tx`select from crawl_sources where id = ${sourceId} and deleted_at is null for no key update`;
  if (row === undefined) throw new ApiError(404, `There is no source ${sourceId}`, { code: "NOT_FOUND" });
  const [running] = await tx<{ id: string }[]>`
    select id from jobs where crawl_source_id = ${sourceId} and status in ('pending', 'running', 'embedding')`;
  if (running === undefined) return;
  throw new ApiError(409, `Job ${running.id} still crawls this source: wait for it, or cancel it`, {
    code: "RUN_UNFINISHED",
    details: { job_id: running.id },
  });
}
