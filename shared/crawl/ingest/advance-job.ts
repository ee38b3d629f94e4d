/**
 * Moves a job on by the pages of a task, in the transaction that stored them: links, counts, the next claims, its
 * state.
 */
import { countWork, type Work } from "../../access/key-work.ts";
import type { IndexedPages } from "../../knowledge/documents/documents.ts";
import type { Transaction } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { claimUrls } from "../frontier/claim.ts";
import { prolongLease } from "../frontier/claim-lease.ts";
import { type EndedUrl, endClaimed } from "../frontier/frontier.ts";
import { type Counted, countByDomain } from "../jobs/count-by-domain.ts";
import { addCounts, type JobRow, lockJob, markRunning, settleJob } from "../jobs/lifecycle.ts";
import { hasQuota } from "../jobs/page-quota.ts";
import { type Followed, followLinks, NOTHING_GAINED } from "./follow-links.ts";
import type { IngestCounts, Ingested } from "./ingested.ts";

/** A claimed URL with its capture, and what becomes of it. */
export interface EndedPage extends Followed, Omit<Counted, keyof Followed> {
  captureId: number;
}

export interface Advance {
  /** As it was read before its row was locked. */
  job: JobRow;
  taskId: string;
  /** When the first of the pages was asked for. */
  begunAt: Date;
  pages: readonly EndedPage[];
  indexed: IndexedPages;
  /** Whether chunks want vectors. */
  embeds: boolean;
  log: Logger;
}

/** Locks the job's row, after whatever the transaction has locked before. */
export async function advanceJob(
  tx: Transaction,
  { job: before, taskId, begunAt, pages, indexed, embeds, log }: Advance,
): Promise<Ingested> {
  const job = (await lockJob(tx, before.id)) as JobRow;
  await markRunning(tx, job, begunAt);
  const gained = job.cancelRequested ? NOTHING_GAINED : await followLinks(tx, job, pages);
  await endClaimed(tx, job, pages.map(endedUrl));
  await prolongLease(tx, job, taskId);
  if (indexed.documents > 0) {
    const { length } = indexed.chunkIds;
    await addCounts(tx, job, { documents: indexed.documents, chunks: length, unembedded: embeds ? length : 0 });
  }
  const work = workOf(pages, indexed);
  // what has just ended is no longer under way: a quota has to see it before anything is claimed
  const countsFirst = hasQuota(job);
  if (countsFirst) await countWork(tx, job.apiKeyId, work);
  const tasks = await claimUrls(tx, job, [...new Set([...pages.map(({ url }) => url.host), ...gained.hosts])]);
  const settled = job.counts.open === 0 ? await settleJob(tx, job.id, log) : "unchanged";
  // last: other jobs wait for these rows until the commit
  await countByDomain(tx, pages, { apiKeyId: countsFirst ? null : job.apiKeyId, work });
  return {
    tasks,
    chunkIds: embeds ? indexed.chunkIds : [],
    priority: job.priority,
    job: settled,
    counts: countsOf(pages, indexed),
    seenLinks: gained.seenLinks,
    answeredBefore: false,
  };
}

function workOf(pages: readonly EndedPage[], { documents }: IndexedPages): Work {
  const sum = (of: (page: EndedPage) => number) => pages.reduce((total, page) => total + of(page), 0);
  return {
    pages: sum(({ outcome, reused }) => (reused || outcome.state === "pending" || outcome.givesBudgetBack ? 0 : 1)),
    fetchedBytes: sum(({ payloadBytes }) => payloadBytes),
    documents,
    storedBytes: sum(({ storedBytes }) => storedBytes),
  };
}

function countsOf(pages: readonly EndedPage[], { documents, chunkIds }: IndexedPages): IngestCounts {
  const outcomes = { crawled: 0, failed: 0, skipped: 0, retried: 0 };
  for (const { outcome } of pages) outcomes[outcome.state === "pending" ? "retried" : outcome.state] += 1;
  const reused = pages.filter((page) => page.reused).length;
  return { pages: outcomes, reused, documents, chunks: chunkIds.length };
}

function endedUrl({ url, outcome, captureId }: EndedPage): EndedUrl {
  return { urlHash: url.urlHash, captureId, ...outcome };
}
