/**
 * Takes in a batch of imported captures, in one transaction with the row that says that the batch is to be taken: a
 * message may arrive any number of times. Nobody has claimed their URLs, and one URL may have been captured often.
 */

import { countWork } from "../../access/key-work.ts";
import { capturesMessage } from "../../archive/import/captures-message.ts";
import { settleImport } from "../../archive/import/settle-import.ts";
import type { Capture } from "../../capture/capture.ts";
import { type CapturesMessage, readCaptureBatch } from "../../capture/capture-batch.ts";
import { supersedeDocuments } from "../../knowledge/documents/supersede.ts";
import { inTransaction, isOutOfTime, type Transaction } from "../../platform/database/database.ts";
import { addCounts, type JobRow, lockJob, markRunning, peekJob } from "../jobs/lifecycle.ts";
import { normalizeUrl, urlHash } from "../urls/normalize-url.ts";
import { type PlacedCapture, warcBytes } from "./captured-page.ts";
import type { IngestDependencies } from "./dependencies.ts";
import { indexPages } from "./index-pages.ts";
import { ANSWERED_BEFORE, type Ingested, recordIngested, sendFollowUps } from "./ingested.ts";
import { insertCaptures } from "./insert-captures.ts";
import { MAX_ATTEMPTS, outcomeOf } from "./outcomes.ts";
import {
  bounded,
  cameTooOften,
  FAIR_STATEMENT_MS,
  type IngestDelivery,
  type Ingesting,
  isFaultOfAPage,
  statementClock,
  tookTooLong,
  UNLIMITED,
  WHOLE_DELIVERIES,
  withoutText,
} from "./page-faults.ts";

/** @throws as `ingestBatch` does */
export async function ingestImported(
  dependencies: IngestDependencies,
  message: CapturesMessage,
  delivery: IngestDelivery,
): Promise<void> {
  const started = performance.now();
  const { jobId, batchKey, range: [first, last] = [0, Number.MAX_SAFE_INTEGER] } = message;
  const placed = (await readCaptureBatch(dependencies.objects, batchKey))
    .map((capture, index): PlacedCapture => ({ capture: bounded(capture), index }))
    .slice(first, last);
  if (placed.length > 1 && delivery.receiveCount > WHOLE_DELIVERIES) {
    return await splitBatch(dependencies, message, [first, first + placed.length], cameTooOften(delivery));
  }
  const clock = statementClock(delivery);
  const take = (pages: readonly PlacedCapture[], by: Ingesting["clock"]): Promise<Ingested> =>
    inTransaction(dependencies.sql, async (tx) => {
      await by.start(tx);
      return await takeImported(tx, dependencies, { jobId, batchKey, first }, pages);
    });
  let ingested: Ingested;
  try {
    ingested = await take(placed, clock);
  } catch (error) {
    if (!isOutOfTime(error) && !isFaultOfAPage(error)) throw error;
    if (placed.length > 1) return await splitBatch(dependencies, message, [first, first + placed.length], error);
    if (isOutOfTime(error) && (delivery.receiveCount === 1 || clock.givenMs < FAIR_STATEMENT_MS))
      throw tookTooLong(error);
    const urls = placed.map(({ capture }) => capture.url);
    dependencies.log.error("an imported page cannot be stored: it is kept without its text", {
      error,
      job_id: jobId,
      urls,
    });
    const reason = error instanceof Error ? error.message : String(error);
    const without = placed.map((each) => ({ ...each, capture: withoutText(each.capture, reason) }));
    ingested = await take(without, UNLIMITED);
  }
  recordIngested(dependencies.log, jobId, ingested, started, { captures: placed.length });
  await sendFollowUps(dependencies, jobId, ingested);
}

/** Halves are rows of their own, so that each is taken once. */
async function splitBatch(
  { sql, queues, log }: IngestDependencies,
  { jobId, batchKey }: CapturesMessage,
  [first, last]: [number, number],
  error: unknown,
): Promise<void> {
  log.warn("an imported batch cannot be stored: its halves are ingested apart", {
    error,
    job_id: jobId,
    batch_key: batchKey,
  });
  const middle = first + Math.ceil((last - first) / 2);
  const split = await sql`
    with half as (
      update warc_import_batches set last = ${middle} where batch_key = ${batchKey} and first = ${first} and last = ${last}
      returning import_id)
    insert into warc_import_batches (batch_key, first, last, import_id)
    select ${batchKey}, ${middle}, ${last}, import_id from half`;
  if (split.count === 0) return;
  const ranges: [number, number][] = [
    [first, middle],
    [middle, last],
  ];
  const halves = ranges.map(([from, to]) => capturesMessage({ jobId, batchKey, first: from, last: to }));
  await queues.sendAll("captures", halves);
}

interface ImportBatch {
  jobId: string;
  batchKey: string;
  first: number;
}

async function takeImported(
  tx: Transaction,
  { embedding, log }: Pick<IngestDependencies, "embedding" | "log">,
  { jobId, batchKey, first }: ImportBatch,
  placed: readonly PlacedCapture[],
): Promise<Ingested> {
  const { count } = await tx`
    delete from warc_import_batches where batch_key = ${batchKey} and first = ${first} and last = ${first + placed.length}`;
  const before = count === 0 ? undefined : await peekJob(tx, jobId);
  if (before === undefined) return ANSWERED_BEFORE;
  const pages = placed.map(importedPage);
  const stored = await insertCaptures(tx, before, batchKey, pages);
  const newest = await supersedeDocuments(tx, before.generationId, stored.filter(hasText));
  const indexed = await indexPages(tx, before, newest, embedding?.maxTokens ?? null, log);
  const job = (await lockJob(tx, jobId)) as JobRow;
  await markRunning(tx, job, new Date());
  const outcomes = { crawled: 0, failed: 0, skipped: 0 };
  for (const { outcome } of pages) outcomes[outcome.state] += 1;
  const { length: chunks } = indexed.chunkIds;
  const embeds = embedding !== null;
  const made = { documents: indexed.documents, chunks, unembedded: embeds ? chunks : 0 };
  await addCounts(tx, job, { open: -placed.length, ...outcomes, ...made });
  const storedBytes = pages.reduce((sum, { capture }) => sum + warcBytes(capture), 0);
  const settled = await settleImport(tx, job, log);
  await countWork(tx, job.apiKeyId, { documents: indexed.documents, storedBytes });
  return {
    tasks: [],
    chunkIds: embeds ? indexed.chunkIds : [],
    priority: job.priority,
    job: settled,
    counts: { pages: { ...outcomes, retried: 0 }, reused: 0, documents: indexed.documents, chunks },
    seenLinks: [],
    answeredBefore: false,
  };
}

function importedPage({ capture, index }: PlacedCapture) {
  const finalUrl = normalizeUrl(capture.finalUrl);
  const { state } = outcomeOf(capture, MAX_ATTEMPTS);
  return {
    capture,
    index,
    finalUrl,
    finalHash: urlHash(finalUrl),
    url: { discoveredFrom: null },
    outcome: { state: state === "pending" ? ("failed" as const) : state },
  };
}

const hasText = ({ capture }: { capture: Capture }): boolean => capture.error === null && capture.extraction !== null;
