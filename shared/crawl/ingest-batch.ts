/**
 * Ingest: one capture batch becomes rows, in one transaction. Captures whose URL is not claimed by the batch's task any more
 * were ingested before, so that a message may arrive any number of times, at once too.
 */
import type { Capture } from "../capture/capture.ts";
import { type CapturesMessage, readCaptureBatch } from "../capture/capture-batch.ts";
import { refreshIfSmall } from "../knowledge/corpus-statistics.ts";
import { EMBED_BATCH_SIZE, type EmbedTask } from "../knowledge/embed-task.ts";
import { inTransaction, isRefusedData, type Sql, type Transaction } from "../platform/database.ts";
import { PermanentError } from "../platform/errors.ts";
import type { Logger } from "../platform/log.ts";
import type { ObjectStore } from "../platform/objects.ts";
import type { QueueSender } from "../platform/queues.ts";
import { insertCaptures } from "./captures.ts";
import { claimUrls } from "./claim.ts";
import { prolongLease } from "./claim-lease.ts";
import { type ClaimedTask, dispatch } from "./claimed-task.ts";
import { addUrls, type ClaimedUrl, type EndedUrl, endClaimed, knowsAll, lockClaimed } from "./frontier.ts";
import {
  addCounts,
  type JobRow,
  lockJob,
  markRunning,
  noteLimit,
  peekJob,
  type Settled,
  settleJob,
} from "./job-lifecycle.ts";
import { linkedUrls } from "./links.ts";
import { outcomeOf } from "./outcomes.ts";
import { judgeOf } from "./scope-judge.ts";
import { type Arrival, shelvePages } from "./shelve-pages.ts";
import { normalizeUrl, urlHash } from "./url-key.ts";

export interface IngestDependencies {
  sql: Sql;
  objects: ObjectStore;
  queues: QueueSender;
  log: Logger;
  /** What the configured embedder reads at the most, in tokens; null where there is none. */
  embedding: { maxTokens: number } | null;
}

/** What is left to do once the transaction has committed. */
interface Ingested {
  tasks: ClaimedTask[];
  chunkIds: string[];
  job: Settled;
}

/** @throws PermanentError where the batch cannot be read, RetryableError or the fault itself where it may be tried again */
export async function ingestBatch(dependencies: IngestDependencies, message: CapturesMessage): Promise<void> {
  const { sql, objects, queues, log } = dependencies;
  if (message.taskId === null) {
    throw new PermanentError("Captures without a fetch task are not taken yet", { code: "IMPORT_UNSUPPORTED" });
  }
  const batch: TaskBatch = { ...message, taskId: message.taskId };
  const captures = await readCaptureBatch(objects, message.batchKey);
  const placed = captures.map((capture, index) => ({ capture, index }));
  let ingested: Ingested;
  try {
    ingested = await inTransaction(sql, (tx) => ingestCaptures(tx, dependencies, batch, placed));
  } catch (error) {
    if (!isFaultOfAPage(error)) throw error;
    log.warn("a capture of the batch cannot be stored: its captures are ingested one by one", {
      error,
      job_id: message.jobId,
      batch_key: message.batchKey,
    });
    ingested = await ingestOneByOne(dependencies, batch, placed);
  }
  await dispatch(dependencies, ingested.tasks);
  await sendEmbedTasks({ queues, log }, message.jobId, ingested.chunkIds);
  if (ingested.job === "completed") {
    try {
      await refreshIfSmall(sql);
    } catch (error) {
      log.warn("corpus statistics were not refreshed: maintenance does it", { error, job_id: message.jobId });
    }
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

type TaskBatch = CapturesMessage & { taskId: string };

interface Placed {
  capture: Capture;
  /** Position in the batch object. */
  index: number;
}

/** The database refuses a value, or a computation gives up on it (a stack or string too long): it would do so again. */
const isFaultOfAPage = (error: unknown): boolean =>
  isRefusedData(error) || error instanceof RangeError || error instanceof TypeError;

/** One capture that cannot be stored must not take the others with it: it stays archived, without its text. */
async function ingestOneByOne(
  dependencies: IngestDependencies,
  batch: TaskBatch,
  placed: readonly Placed[],
): Promise<Ingested> {
  const all: Ingested = { tasks: [], chunkIds: [], job: "unchanged" };
  for (const each of placed) {
    const ingest = (one: Placed) =>
      inTransaction(dependencies.sql, (tx) => ingestCaptures(tx, dependencies, batch, [one]));
    const one = await ingest(each).catch(async (error: unknown) => {
      if (!isFaultOfAPage(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      return await ingest({ ...each, capture: withoutText(each.capture, reason) });
    });
    all.tasks.push(...one.tasks);
    all.chunkIds.push(...one.chunkIds);
    if (one.job !== "unchanged") all.job = one.job;
  }
  return all;
}

function withoutText(capture: Capture, reason: string): Capture {
  const message = `The text of the page cannot be stored: ${reason}`;
  return { ...capture, extraction: null, error: { code: "EXTRACT_FAILED", message, retryable: false } };
}

const NOTHING: Ingested = { tasks: [], chunkIds: [], job: "unchanged" };

async function ingestCaptures(
  tx: Transaction,
  { embedding, log }: IngestDependencies,
  { jobId, taskId, batchKey }: TaskBatch,
  placed: readonly Placed[],
): Promise<Ingested> {
  const hashes = placed.map(({ capture }) => capture.urlHash);
  const [before, claimed] = await Promise.all([peekJob(tx, jobId), lockClaimed(tx, jobId, taskId, hashes)]);
  if (before === undefined || claimed.length === 0) return NOTHING;
  const awaited = new Map(claimed.map((url) => [url.urlHash, url]));
  const fresh = placed
    .filter(({ capture }, at) => awaited.has(capture.urlHash) && hashes.indexOf(capture.urlHash) === at)
    .map((each) => ({ ...each, ...documentKey(each.capture.finalUrl) }));
  const captureIds = await insertCaptures(tx, jobId, batchKey, fresh);
  const arrivals = fresh.map(({ capture, finalUrl, finalHash }): Arrival => {
    const url = awaited.get(capture.urlHash) as ClaimedUrl;
    return {
      capture,
      url,
      captureId: captureIds.get(capture.urlHash) as number,
      outcome: outcomeOf(capture, url.attempt),
      finalUrl,
      finalHash,
      links: capture.extraction === null || capture.extraction.robots.nofollow ? [] : capture.extraction.links,
    };
  });
  const shelved = before.cancelRequested
    ? { documents: 0, chunkIds: [] }
    : await shelvePages(tx, before, arrivals, embedding?.maxTokens ?? null);

  const job = (await lockJob(tx, jobId)) as JobRow;
  await markRunning(tx, job);
  if (!job.cancelRequested) await followLinks(tx, job, arrivals);
  await endClaimed(tx, job, arrivals.map(endedUrl));
  await prolongLease(tx, job, taskId);
  if (shelved.documents > 0) {
    const { length } = shelved.chunkIds;
    await addCounts(tx, job, {
      documents: shelved.documents,
      chunks: length,
      unembedded: embedding === null ? 0 : length,
    });
  }
  const hosts = [...new Set(claimed.map((url) => url.host))];
  const tasks = await claimUrls(tx, job, hosts);
  const settled = job.counts.open === 0 ? await settleJob(tx, jobId) : "unchanged";
  log.info("captures ingested", {
    job_id: jobId,
    captures: arrivals.length,
    repeated: placed.length - arrivals.length,
    documents: shelved.documents,
    chunks: shelved.chunkIds.length,
    claimed_tasks: tasks.length,
    job: settled,
  });
  return { tasks, chunkIds: embedding === null ? [] : shelved.chunkIds, job: settled };
}

function documentKey(url: string): { finalUrl: string; finalHash: string } {
  const finalUrl = normalizeUrl(url);
  return { finalUrl, finalHash: urlHash(finalUrl) };
}

/** Adds what the pages link to; notes where the depth limit cuts something off. */
async function followLinks(tx: Transaction, job: JobRow, arrivals: readonly Arrival[]): Promise<void> {
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

function endedUrl({ url, outcome, captureId }: Arrival): EndedUrl {
  return { urlHash: url.urlHash, captureId, ...outcome };
}
