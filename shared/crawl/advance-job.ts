/**
 * What follows once the captures of a task have become rows, in the same transaction: links, counts, the next claims, the job's
 * state; and what is sent after the commit.
 */
import { refreshIfSmall } from "../knowledge/corpus-statistics.ts";
import type { Shelved } from "../knowledge/documents.ts";
import { EMBED_BATCH_SIZE, type EmbedTask } from "../knowledge/embed-task.ts";
import type { Sql, Transaction } from "../platform/database.ts";
import type { Logger } from "../platform/log.ts";
import type { ObjectStore } from "../platform/objects.ts";
import type { QueueSender } from "../platform/queues.ts";
import { claimUrls } from "./claim.ts";
import { prolongLease } from "./claim-lease.ts";
import { type ClaimedTask, dispatch } from "./claimed-task.ts";
import { type Counted, countByDomain } from "./domain-counts.ts";
import { addUrls, type ClaimedUrl, type EndedUrl, endClaimed, knowsAll } from "./frontier.ts";
import { addCounts, type JobRow, lockJob, markRunning, noteLimit, type Settled, settleJob } from "./job-lifecycle.ts";
import { linkedUrls } from "./links.ts";
import type { Outcome } from "./outcomes.ts";
import { judgeOf } from "./scope-judge.ts";

export interface IngestDependencies {
  sql: Sql;
  objects: ObjectStore;
  queues: QueueSender;
  log: Logger;
  /** What the configured embedder reads at the most, in tokens; null where there is none. */
  embedding: { maxTokens: number } | null;
}

/** What is left to do once the transaction has committed. */
export interface Ingested {
  tasks: ClaimedTask[];
  chunkIds: string[];
  job: Settled;
}

export const NOTHING: Ingested = { tasks: [], chunkIds: [], job: "unchanged" };

/** A claimed URL with its capture, and what becomes of it. */
export interface Ended extends Counted {
  url: ClaimedUrl;
  captureId: number;
  outcome: Outcome;
  /** Normalised. */
  finalUrl: string;
  /** Absolute URLs that the job may follow. */
  links: readonly string[];
}

export interface Advance {
  job: JobRow;
  taskId: string;
  /** All that the task had to answer for among the captures; they are locked. */
  claimed: readonly ClaimedUrl[];
  arrivals: readonly Ended[];
  shelved: Shelved;
  /** Whether chunks want vectors. */
  embeds: boolean;
}

/** Takes the job's row, after whatever the transaction has locked before. */
export async function advanceJob(
  tx: Transaction,
  { job: before, taskId, claimed, arrivals, shelved, embeds }: Advance,
): Promise<Ingested> {
  const job = (await lockJob(tx, before.id)) as JobRow;
  await markRunning(tx, job);
  if (!job.cancelRequested) await followLinks(tx, job, arrivals);
  await endClaimed(tx, job, arrivals.map(endedUrl));
  await prolongLease(tx, job, taskId);
  if (shelved.documents > 0) {
    const { length } = shelved.chunkIds;
    await addCounts(tx, job, { documents: shelved.documents, chunks: length, unembedded: embeds ? length : 0 });
  }
  const hosts = [...new Set(claimed.map((url) => url.host))];
  const tasks = await claimUrls(tx, job, hosts);
  const settled = job.counts.open === 0 ? await settleJob(tx, job.id) : "unchanged";
  // last: other jobs wait for these rows until the commit
  await countByDomain(tx, arrivals);
  return { tasks, chunkIds: embeds ? shelved.chunkIds : [], job: settled };
}

/** Sends what the transaction has left to do. What is lost here is sent again by the sweep. */
export async function sendFollowUps(
  dependencies: Pick<IngestDependencies, "sql" | "queues" | "log">,
  jobId: string,
  { tasks, chunkIds, job }: Ingested,
): Promise<void> {
  const { sql, log } = dependencies;
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

/** Adds what the pages link to; notes where the depth limit cuts something off. */
async function followLinks(tx: Transaction, job: JobRow, arrivals: readonly Ended[]): Promise<void> {
  if (job.kind !== "site") return;
  const { max_depth, max_pages } = job.settings;
  const pages = arrivals
    .filter(({ outcome }) => outcome.state === "crawled")
    .map(({ finalUrl, url, links }) => ({ url: finalUrl, depth: url.depth, links }));
  const found = linkedUrls(pages, judgeOf(job.id, job.settings.scope));
  const room = FRONTIER_FACTOR * max_pages - job.counts.discovered;
  const reachable = found.filter((each) => each.depth <= max_depth).slice(0, Math.max(0, room));
  await addUrls(tx, job, reachable);
  const beyond = found.filter((each) => each.depth > max_depth);
  if (beyond.length === 0 || job.stopReason !== null) return;
  const hashes = beyond.map((each) => each.urlHash);
  if (!(await knowsAll(tx, job.id, hashes))) await noteLimit(tx, job, "max_depth");
}

/** URLs that a frontier holds per page that may be fetched, at the most: a trap must not fill the database. */
const FRONTIER_FACTOR = 100;

function endedUrl({ url, outcome, captureId }: Ended): EndedUrl {
  return { urlHash: url.urlHash, captureId, ...outcome };
}
