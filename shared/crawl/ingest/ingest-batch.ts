/**
 * Ingest: one capture batch becomes rows, in one transaction. Captures whose URL is not claimed by the batch's task any more
 * were ingested before, so that a message may arrive any number of times, at once too.
 */
import type { Capture } from "../../capture/capture.ts";
import { type CapturesMessage, readCaptureBatch } from "../../capture/capture-batch.ts";
import { inTransaction, isRefusedData, type Transaction } from "../../platform/database/database.ts";
import { PermanentError } from "../../platform/errors.ts";
import { type ClaimedUrl, lockClaimed } from "../frontier/frontier.ts";
import { claimSkipped } from "../frontier/give-up.ts";
import { peekJob } from "../jobs/lifecycle.ts";
import { type KeyRules, keyRules, normalizeUrl, urlHash } from "../urls/normalize-url.ts";
import {
  addIngested,
  advanceJob,
  type IngestDependencies,
  type Ingested,
  NOTHING,
  recordIngested,
  sendFollowUps,
} from "./advance-job.ts";
import { checkCapturedPages } from "./capture-checks.ts";
import { type CapturedPage, indexPages } from "./index-pages.ts";
import { insertCaptures } from "./insert-captures.ts";
import { outcomeOf } from "./outcomes.ts";

/** @throws PermanentError where the batch cannot be read, RetryableError or the fault itself where it may be tried again */
export async function ingestBatch(dependencies: IngestDependencies, message: CapturesMessage): Promise<void> {
  const { sql, objects, log } = dependencies;
  const started = performance.now();
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
  recordIngested(log, message.jobId, ingested, started, { captures: captures.length });
  await sendFollowUps(dependencies, message.jobId, ingested);
  if (ingested === NOTHING) await claimSkipped(dependencies, message.jobId);
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
  let all = NOTHING;
  for (const each of placed) {
    const ingest = (one: Placed) =>
      inTransaction(dependencies.sql, (tx) => ingestCaptures(tx, dependencies, batch, [one]));
    const one = await ingest(each).catch(async (error: unknown) => {
      if (!isFaultOfAPage(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      return await ingest({ ...each, capture: withoutText(each.capture, reason) });
    });
    if (one === NOTHING) await claimSkipped(dependencies, batch.jobId);
    all = addIngested(all, one);
  }
  return all;
}

function withoutText(capture: Capture, reason: string): Capture {
  const message = `The text of the page cannot be stored: ${reason}`;
  return { ...capture, extraction: null, error: { code: "EXTRACT_FAILED", message, retryable: false } };
}

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
  const rules = keyRules(before.settings.config);
  const taken = placed
    .filter(({ capture }, at) => awaited.has(capture.urlHash) && hashes.indexOf(capture.urlHash) === at)
    .map((each) => ({ ...each, ...documentKey(each.capture.finalUrl, rules) }));
  const fresh = await checkCapturedPages(tx, before, taken, awaited);
  const captureIds = await insertCaptures(tx, jobId, batchKey, fresh);
  const capturedPages = fresh.map(({ capture, finalUrl, finalHash }): CapturedPage => {
    const url = awaited.get(capture.urlHash) as ClaimedUrl;
    return {
      capture,
      url,
      captureId: captureIds.get(capture.urlHash) as number,
      outcome: outcomeOf(capture, url.attempt),
      finalUrl,
      finalHash,
      links: capture.extraction === null || capture.extraction.robots.nofollow ? [] : capture.extraction.links,
      page: capture.extraction,
      payloadBytes: capture.payloadBytes,
      reused: false,
    };
  });
  const indexed = before.cancelRequested
    ? { documents: 0, chunkIds: [] }
    : await indexPages(tx, before, capturedPages, embedding?.maxTokens ?? null);

  return await advanceJob(tx, {
    job: before,
    taskId,
    claimed,
    capturedPages,
    indexed,
    embeds: embedding !== null,
    log,
  });
}

function documentKey(url: string, rules: KeyRules): { finalUrl: string; finalHash: string } {
  const finalUrl = normalizeUrl(url, rules);
  return { finalUrl, finalHash: urlHash(finalUrl) };
}
