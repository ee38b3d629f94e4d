/**
 * Ingest: one capture batch becomes rows, in one transaction. Captures whose URL is not claimed by the batch's task any
 * more were ingested before, so that a message may arrive any number of times, at once too.
 *
 * A batch that takes longer than a function may is halved, and so are its halves, until the page that takes so long
 * stands alone: it is stored without its text, and holds up no other. One that kills the function is found in the same
 * way.
 */
import { type CapturesMessage, readCaptureBatch } from "../../capture/capture-batch.ts";
import { inTransaction, isOutOfTime, type Transaction } from "../../platform/database/database.ts";
import { peekJob } from "../jobs/lifecycle.ts";
import { advanceJob } from "./advance-job.ts";
import { checkCapturedPages } from "./capture-checks.ts";
import { lockPages, type PlacedCapture, withOutcome } from "./captured-page.ts";
import type { IngestDependencies } from "./dependencies.ts";
import { carryUnmodified, indexPages } from "./index-pages.ts";
import { ingestImported } from "./ingest-imported.ts";
import { ANSWERED_BEFORE, type Ingested, recordIngested, sendFollowUps, sumIngested } from "./ingested.ts";
import { insertCaptures } from "./insert-captures.ts";
import {
  bounded,
  cameTooOften,
  FAIR_STATEMENT_MS,
  type IngestDelivery,
  type Ingesting,
  isFaultOfAPage,
  statementClock,
  tookTooLong,
  UNHURRIED,
  UNLIMITED,
  WHOLE_DELIVERIES,
  withoutText,
} from "./page-faults.ts";

/**
 * @throws PermanentError where the batch cannot be read, RetryableError or the fault itself where it may be tried again
 */
export async function ingestBatch(
  dependencies: IngestDependencies,
  message: CapturesMessage,
  delivery: IngestDelivery = UNHURRIED,
): Promise<void> {
  const { taskId } = message;
  if (taskId === null) return await ingestImported(dependencies, message, delivery);
  await ingestBatchOfTask(dependencies, { ...message, taskId }, delivery);
}

async function ingestBatchOfTask(
  dependencies: IngestDependencies,
  batch: TaskBatch,
  delivery: IngestDelivery,
): Promise<void> {
  const started = performance.now();
  const placed = (await readCaptureBatch(dependencies.objects, batch.batchKey))
    .map((capture, index): PlacedCapture => ({ capture: bounded(capture), index }))
    .slice(...(batch.range ?? []));
  if (placed.length > 1 && delivery.receiveCount > WHOLE_DELIVERIES) {
    // as long as the database is down, nothing is the batch's fault
    await dependencies.sql`select 1`;
    return await sendHalves(dependencies, batch, placed, cameTooOften(delivery));
  }
  const clock = statementClock(delivery);
  let ingested: Ingested;
  try {
    ingested = await ingestCaptures({ ...dependencies, clock }, batch, placed);
  } catch (error) {
    if (!isOutOfTime(error)) throw error;
    if (placed.length > 1) return await sendHalves(dependencies, batch, placed, error);
    if (delivery.receiveCount === 1 || clock.givenMs < FAIR_STATEMENT_MS) throw tookTooLong(error);
    ingested = await ingestWithoutText({ ...dependencies, clock: UNLIMITED }, batch, placed, error);
  }
  recordIngested(dependencies.log, batch.jobId, ingested, started, { captures: placed.length });
  await sendFollowUps(dependencies, batch.jobId, ingested);
}

type TaskBatch = CapturesMessage & { taskId: string };

async function sendHalves(
  { queues, log }: IngestDependencies,
  { jobId, taskId, batchKey, range: [start, end] = [0, 0] }: TaskBatch,
  placed: readonly PlacedCapture[],
  error: unknown,
): Promise<void> {
  log.warn("a batch takes too long, or too much: its halves are ingested apart", {
    error,
    job_id: jobId,
    batch_key: batchKey,
    captures: placed.length,
  });
  const last = Math.max(end, start + placed.length);
  const middle = start + Math.ceil(placed.length / 2);
  const halves: CapturesMessage[] = [
    { jobId, taskId, batchKey, range: [start, middle] },
    { jobId, taskId, batchKey, range: [middle, last] },
  ];
  await queues.sendAll("captures", halves);
}

async function ingestWithoutText(
  dependencies: Ingesting,
  batch: TaskBatch,
  placed: readonly PlacedCapture[],
  error: unknown,
): Promise<Ingested> {
  dependencies.log.error("a page takes too long to be stored: it is kept without its text", {
    error,
    job_id: batch.jobId,
    urls: placed.map(({ capture }) => capture.url),
  });
  const reason = "it takes longer than a function may";
  const without = placed.map((each) => ({ ...each, capture: withoutText(each.capture, reason) }));
  return await ingestTogether(dependencies, batch, without);
}

async function ingestCaptures(
  dependencies: Ingesting,
  batch: TaskBatch,
  placed: readonly PlacedCapture[],
): Promise<Ingested> {
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

/** One capture that cannot be stored must not take the others with it: it stays archived, without its text. */
async function ingestOneByOne(
  dependencies: Ingesting,
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

const ingestTogether = (
  { sql, embedding, log, clock }: Ingesting,
  batch: TaskBatch,
  placed: readonly PlacedCapture[],
): Promise<Ingested> =>
  inTransaction(sql, async (tx) => {
    await clock.start(tx);
    return await takePages(tx, { embedding, log }, batch, placed);
  });

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
  const stored = await insertCaptures(tx, job, batchKey, checked);
  const pages = await carryUnmodified(tx, job, stored.map(withOutcome));
  const indexed = await indexPages(tx, job, pages, embedding?.maxTokens ?? null, log);
  const begunAt = new Date(Math.min(...locked.map(({ capture }) => Date.parse(capture.fetchedAt))));
  return await advanceJob(tx, { job, taskId, begunAt, pages, indexed, embeds: embedding !== null, log });
}
