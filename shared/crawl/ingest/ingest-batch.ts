/**
 * Ingest: one capture batch becomes rows, in one transaction. Captures whose URL is not claimed by the batch's task any more
 * were ingested before, so that a message may arrive any number of times, at once too.
 */
import type { Capture } from "../../capture/capture.ts";
import { type CapturesMessage, readCaptureBatch } from "../../capture/capture-batch.ts";
import { inTransaction, isRefusedData, type Transaction } from "../../platform/database/database.ts";
import { PermanentError } from "../../platform/errors.ts";
import { peekJob } from "../jobs/lifecycle.ts";
import { advanceJob } from "./advance-job.ts";
import { checkCapturedPages } from "./capture-checks.ts";
import { lockPages, type PlacedCapture, withOutcome } from "./captured-page.ts";
import type { IngestDependencies } from "./dependencies.ts";
import { carryUnmodified, indexPages } from "./index-pages.ts";
import { ANSWERED_BEFORE, type Ingested, recordIngested, sendFollowUps, sumIngested } from "./ingested.ts";
import { insertCaptures } from "./insert-captures.ts";

/** @throws PermanentError where the batch cannot be read, RetryableError or the fault itself where it may be tried again */
export async function ingestBatch(dependencies: IngestDependencies, message: CapturesMessage): Promise<void> {
  const started = performance.now();
  const batch = batchOfTask(message);
  const captures = await readCaptureBatch(dependencies.objects, batch.batchKey);
  const ingested = await ingestCaptures(dependencies, batch, captures);
  recordIngested(dependencies.log, batch.jobId, ingested, started, { captures: captures.length });
  await sendFollowUps(dependencies, batch.jobId, ingested);
}

type TaskBatch = CapturesMessage & { taskId: string };

function batchOfTask(message: CapturesMessage): TaskBatch {
  const { taskId } = message;
  if (taskId !== null) return { ...message, taskId };
  throw new PermanentError("Captures without a fetch task are not taken yet", { code: "IMPORT_UNSUPPORTED" });
}

async function ingestCaptures(
  dependencies: IngestDependencies,
  batch: TaskBatch,
  captures: readonly Capture[],
): Promise<Ingested> {
  const placed = captures.map((capture, index) => ({ capture, index }));
  try {
    return await ingestTogether(dependencies, batch, placed);
  } catch (error) {
    if (!isFaultOfAPage(error)) throw error;
    dependencies.log.warn("a capture of the batch cannot be stored: its captures are ingested one by one", {
      error,
      job_id: batch.jobId,
      batch_key: batch.batchKey,
    });
    return await ingestOneByOne(dependencies, batch, placed);
  }
}

/** The database refuses a value, or a computation gives up on it (a stack or string too long): it would do so again. */
const isFaultOfAPage = (error: unknown): boolean =>
  isRefusedData(error) || error instanceof RangeError || error instanceof TypeError;

/** One capture that cannot be stored must not take the others with it: it stays archived, without its text. */
async function ingestOneByOne(
  dependencies: IngestDependencies,
  batch: TaskBatch,
  placed: readonly PlacedCapture[],
): Promise<Ingested> {
  const all: Ingested[] = [];
  for (const each of placed) {
    const one = await ingestTogether(dependencies, batch, [each]).catch(async (error: unknown) => {
      if (!isFaultOfAPage(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      return await ingestTogether(dependencies, batch, [{ ...each, capture: withoutText(each.capture, reason) }]);
    });
    all.push(one);
  }
  return sumIngested(all);
}

function withoutText(capture: Capture, reason: string): Capture {
  const message = `The text of the page cannot be stored: ${reason}`;
  return { ...capture, extraction: null, error: { code: "EXTRACT_FAILED", message, retryable: false } };
}

const ingestTogether = (
  { sql, embedding, log }: IngestDependencies,
  batch: TaskBatch,
  placed: readonly PlacedCapture[],
): Promise<Ingested> => inTransaction(sql, (tx) => takePages(tx, { embedding, log }, batch, placed));

/** The way of the pages: from captures to rows, documents, links and the next claims. */
async function takePages(
  tx: Transaction,
  { embedding, log }: Pick<IngestDependencies, "embedding" | "log">,
  { jobId, taskId, batchKey }: TaskBatch,
  placed: readonly PlacedCapture[],
): Promise<Ingested> {
  const [job, locked] = await Promise.all([peekJob(tx, jobId), lockPages(tx, jobId, taskId, placed)]);
  if (job === undefined || locked.length === 0) return ANSWERED_BEFORE;
  const checked = await checkCapturedPages(tx, job, locked);
  const stored = await insertCaptures(tx, jobId, batchKey, checked);
  const pages = await carryUnmodified(tx, job, stored.map(withOutcome));
  const indexed = await indexPages(tx, job, pages, embedding?.maxTokens ?? null);
  return await advanceJob(tx, { job, taskId, pages, indexed, embeds: embedding !== null, log });
}
