/**
 * Ingests a task that the crawl cache answers in place of fetch: its URLs get captures that repeat earlier ones and say
 * so. What the cache does not have any more goes on to fetch as the same task.
 */
import { z } from "zod";
import { type CarriedOver, carryOver } from "../../knowledge/embedding/carry-over.ts";
import { inTransaction, type Transaction } from "../../platform/database/database.ts";
import { readTask } from "../frontier/claim-lease.ts";
import { findReusable, type Reusable } from "../frontier/crawl-cache.ts";
import { type ClaimedUrl, lockTask } from "../frontier/frontier.ts";
import { peekJob } from "../jobs/lifecycle.ts";
import { advanceJob, type EndedPage } from "./advance-job.ts";
import type { IngestDependencies } from "./dependencies.ts";
import { indexTarget } from "./index-pages.ts";
import { ANSWERED_BEFORE, type Ingested, passedOn, recordIngested, sendFollowUps } from "./ingested.ts";
import { repeatCaptures } from "./insert-captures.ts";

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
      storedBytes: 0,
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
