/** What a transaction of ingest leaves behind: what it counted, and what is to be done once it has committed. */
import { sendEmbedTasks } from "../../knowledge/embedding/embed-task.ts";
import { prepareForSearches } from "../../knowledge/search/corpus-statistics.ts";
import type { Logger } from "../../platform/observability/log.ts";
import type { ClaimedTask } from "../frontier/build-task.ts";
import { dispatch } from "../frontier/dispatch.ts";
import { claimSkipped } from "../frontier/give-up.ts";
import type { JobRow, Settled } from "../jobs/lifecycle.ts";
import type { IngestDependencies } from "./dependencies.ts";
import { INGEST } from "./metrics.ts";
import { rememberLinks } from "./seen-links.ts";

export interface IngestCounts {
  pages: Record<"crawled" | "failed" | "skipped" | "retried", number>;
  /** Of these: the crawl cache had them. */
  reused: number;
  documents: number;
  chunks: number;
}

export interface Ingested {
  tasks: readonly ClaimedTask[];
  /** Chunks that want a vector. */
  chunkIds: readonly string[];
  /** Of the job that they belong to. */
  priority: JobRow["priority"];
  job: Settled;
  counts: IngestCounts;
  /** Links that lead to nothing further. */
  seenLinks: readonly string[];
  /**
   * URLs of the batch were answered before: their rows were locked in vain, and whoever claimed meanwhile skipped them.
   */
  answeredBefore: boolean;
}

const NOTHING: Ingested = {
  tasks: [],
  chunkIds: [],
  priority: "normal",
  job: "unchanged",
  counts: { pages: { crawled: 0, failed: 0, skipped: 0, retried: 0 }, reused: 0, documents: 0, chunks: 0 },
  seenLinks: [],
  answeredBefore: false,
};

/** The job is gone, or the task is not responsible for any of these URLs any more. */
export const ANSWERED_BEFORE: Ingested = { ...NOTHING, answeredBefore: true };

/** Nothing was taken in; these tasks go on. */
export const passedOn = (tasks: readonly ClaimedTask[]): Ingested => ({ ...NOTHING, tasks });

/** What several transactions of one batch have left together. */
export function sumIngested(all: readonly Ingested[]): Ingested {
  return all.reduce(addIngested, NOTHING);
}

function addIngested(one: Ingested, next: Ingested): Ingested {
  const sum = (count: (counts: IngestCounts) => number): number => count(one.counts) + count(next.counts);
  return {
    tasks: [...one.tasks, ...next.tasks],
    chunkIds: [...one.chunkIds, ...next.chunkIds],
    priority: (next.chunkIds.length > 0 ? next : one).priority,
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
    answeredBefore: one.answeredBefore || next.answeredBefore,
  };
}

/**
 * Writes the log line and the metrics of a batch whose transaction has committed.
 * @param started as `performance.now()` gave it
 */
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

/** Does what the committed transaction has left to do. What is lost here is sent again by the sweep. */
export async function sendFollowUps(
  dependencies: Pick<IngestDependencies, "sql" | "queues" | "log">,
  jobId: string,
  { tasks, chunkIds, priority, job, seenLinks, answeredBefore }: Ingested,
): Promise<void> {
  const { sql, log } = dependencies;
  rememberLinks(jobId, seenLinks);
  await dispatch(dependencies, tasks);
  await sendEmbedTasks(dependencies, { jobId, priority }, chunkIds);
  if (answeredBefore) await claimSkipped(dependencies, jobId);
  if (job !== "completed") return;
  try {
    await prepareForSearches(sql);
  } catch (error) {
    log.warn("the index and the statistics of searches are not up to date: maintenance does it", {
      error,
      job_id: jobId,
    });
  }
}
