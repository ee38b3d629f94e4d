/**
 * What follows once the captures of a task have become rows, in the same transaction: links, counts, the next claims, the job's
 * state; and what is sent after the commit.
 */

import type { IndexedPages } from "../../knowledge/documents/documents.ts";
import { EMBED_BATCH_SIZE, type EmbedTask } from "../../knowledge/embedding/embed-task.ts";
import { refreshIfSmall } from "../../knowledge/search/corpus-statistics.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Sql, Transaction } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { type Counted, countByDomain } from "../administration/domain-counts.ts";
import { type ClaimedTask, dispatch } from "../frontier/build-task.ts";
import { claimUrls } from "../frontier/claim.ts";
import { prolongLease } from "../frontier/claim-lease.ts";
import { type ClaimedUrl, type EndedUrl, endClaimed } from "../frontier/frontier.ts";
import { addCounts, type JobRow, lockJob, markRunning, type Settled, settleJob } from "../jobs/lifecycle.ts";
import { type Followed, followLinks, NOTHING_GAINED } from "./follow-links.ts";
import { INGEST } from "./metrics.ts";
import { noteSettled } from "./seen-links.ts";

export interface IngestDependencies {
  sql: Sql;
  objects: ObjectStore;
  queues: QueueSender;
  log: Logger;
  /** What the configured embedder reads at the most, in tokens; null where there is none. */
  embedding: { maxTokens: number } | null;
}

/** What the transaction has taken in. */
export interface IngestCounts {
  pages: Record<"crawled" | "failed" | "skipped" | "retried", number>;
  /** Of these: the crawl cache had them. */
  reused: number;
  documents: number;
  chunks: number;
}

/** What is left to do once the transaction has committed. */
export interface Ingested {
  tasks: ClaimedTask[];
  chunkIds: string[];
  job: Settled;
  counts: IngestCounts;
  /** Links that lead to nothing further. */
  seenLinks: readonly string[];
}

const NO_COUNTS: IngestCounts = {
  pages: { crawled: 0, failed: 0, skipped: 0, retried: 0 },
  reused: 0,
  documents: 0,
  chunks: 0,
};
export const NOTHING: Ingested = { tasks: [], chunkIds: [], job: "unchanged", counts: NO_COUNTS, seenLinks: [] };

/** A claimed URL with its capture, and what becomes of it. */
export interface Ended extends Followed, Omit<Counted, keyof Followed> {
  captureId: number;
}

export interface Advance {
  job: JobRow;
  taskId: string;
  /** All that the task had to answer for among the captures; they are locked. */
  claimed: readonly ClaimedUrl[];
  capturedPages: readonly Ended[];
  indexed: IndexedPages;
  /** Whether chunks want vectors. */
  embeds: boolean;
  log: Logger;
}

/** Takes the job's row, after whatever the transaction has locked before. */
export async function advanceJob(
  tx: Transaction,
  { job: before, taskId, claimed, capturedPages, indexed, embeds, log }: Advance,
): Promise<Ingested> {
  const job = (await lockJob(tx, before.id)) as JobRow;
  await markRunning(tx, job);
  const gained = job.cancelRequested ? NOTHING_GAINED : await followLinks(tx, job, capturedPages);
  await endClaimed(tx, job, capturedPages.map(endedUrl));
  await prolongLease(tx, job, taskId);
  if (indexed.documents > 0) {
    const { length } = indexed.chunkIds;
    await addCounts(tx, job, { documents: indexed.documents, chunks: length, unembedded: embeds ? length : 0 });
  }
  const hosts = [...new Set([...claimed.map((url) => url.host), ...gained.hosts])];
  const tasks = await claimUrls(tx, job, hosts);
  const settled = job.counts.open === 0 ? await settleJob(tx, job.id, log) : "unchanged";
  // last: other jobs wait for these rows until the commit
  await countByDomain(tx, capturedPages);
  const chunkIds = embeds ? indexed.chunkIds : [];
  return { tasks, chunkIds, job: settled, counts: countsOf(capturedPages, indexed), seenLinks: gained.settled };
}

function countsOf(capturedPages: readonly Ended[], { documents, chunkIds }: IndexedPages): IngestCounts {
  const pages = { ...NO_COUNTS.pages };
  for (const { outcome } of capturedPages) pages[outcome.state === "pending" ? "retried" : outcome.state] += 1;
  return { pages, reused: capturedPages.filter(({ reused }) => reused).length, documents, chunks: chunkIds.length };
}

/** What two transactions of one batch have left together. */
export function addIngested(one: Ingested, next: Ingested): Ingested {
  const sum = (count: (counts: IngestCounts) => number): number => count(one.counts) + count(next.counts);
  return {
    tasks: [...one.tasks, ...next.tasks],
    chunkIds: [...one.chunkIds, ...next.chunkIds],
    seenLinks: [...one.seenLinks, ...next.seenLinks],
    job: next.job === "unchanged" ? one.job : next.job,
    counts: {
      pages: {
        crawled: sum(({ pages }) => pages.crawled),
        failed: sum(({ pages }) => pages.failed),
        skipped: sum(({ pages }) => pages.skipped),
        retried: sum(({ pages }) => pages.retried),
      },
      reused: sum(({ reused }) => reused),
      documents: sum(({ documents }) => documents),
      chunks: sum(({ chunks }) => chunks),
    },
  };
}

/** Tells of a batch once its transaction has committed. @param started as `performance.now()` gave it */
export function recordIngested(
  log: Logger,
  jobId: string,
  { tasks, job, counts }: Ingested,
  started: number,
  about: Record<string, number | string>,
): void {
  const values = { batches: 1, batch_seconds: (performance.now() - started) / 1000, ...counts };
  log.measure("captures ingested", {
    job_id: jobId,
    ...about,
    claimed_tasks: tasks.length,
    job,
    ...INGEST.fields({}, values, Date.now()),
  });
}

/** Sends what the transaction has left to do. What is lost here is sent again by the sweep. */
export async function sendFollowUps(
  dependencies: Pick<IngestDependencies, "sql" | "queues" | "log">,
  jobId: string,
  { tasks, chunkIds, job, seenLinks }: Ingested,
): Promise<void> {
  const { sql, log } = dependencies;
  noteSettled(jobId, seenLinks);
  await dispatch(dependencies, tasks);
  await sendEmbedTasks(dependencies, jobId, chunkIds);
  if (job !== "completed") return;
  try {
    await refreshIfSmall(sql);
  } catch (error) {
    log.warn("corpus statistics were not refreshed: maintenance does it", { error, job_id: jobId });
  }
}

/** Sends the chunks to the embedder. What is lost here is sent again by the sweep. */
export async function sendEmbedTasks(
  { queues, log }: { queues: QueueSender; log: Logger },
  jobId: string,
  chunkIds: readonly string[],
): Promise<void> {
  const tasks: EmbedTask[] = [];
  for (let start = 0; start < chunkIds.length; start += EMBED_BATCH_SIZE) {
    tasks.push({ jobId, chunkIds: chunkIds.slice(start, start + EMBED_BATCH_SIZE) });
  }
  try {
    await queues.sendAll("embed", tasks);
  } catch (error) {
    log.warn("embed tasks were not sent: the sweep sends them", { error, job_id: jobId });
  }
}

function endedUrl({ url, outcome, captureId }: Ended): EndedUrl {
  return { urlHash: url.urlHash, captureId, ...outcome };
}
