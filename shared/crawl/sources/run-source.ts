/** Begins jobs for sources: one at a time for each. */
import type { Queryable, Transaction } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { effectiveConfig, requireCollection } from "../administration/effective-config.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { type JobView, jobColumns } from "../jobs/views.ts";
import { createJob, type NewJob } from "../submit/create-job.ts";
import { ANYWHERE } from "../urls/scope.ts";
import { scopeOfSeeds } from "../urls/scope-of-seeds.ts";
import type { CrawlSource } from "./sources.ts";

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
  const effective = await effectiveConfig(sql, config_id ?? undefined, config);
  if (collection_id !== null) await requireCollection(sql, collection_id);
  const job: NewJob = {
    id,
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
  return await createJob(dependencies, job, async (tx) => {
    await admitRun(tx, source.id);
    await admit?.(tx);
    await tx`update crawl_sources set last_crawled_at = now(), last_error = null where id = ${source.id}`;
  });
}

/**
 * Jobs of a source, newest first.
 * @param after id of the last job seen
 */
export async function listRuns(
  sql: Queryable,
  sourceId: string,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<JobView[]> {
  return await sql<JobView[]>`
    select ${jobColumns(sql)} from jobs
    where crawl_source_id = ${sourceId} and ${after === undefined ? sql`true` : sql`id < ${after}`}
    order by id desc limit ${limit}`;
}

function crawlOf({
  type,
  url,
  options,
}: CrawlSource): Pick<NewJob, "kind" | "seeds" | "scope" | "maxDepth" | "maxPages"> {
  const { site } = options;
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
