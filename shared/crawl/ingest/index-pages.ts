/** Makes documents of the job's generation from captured pages. */
import {
  chunkLimits,
  documentOf,
  type IndexedPages,
  type IndexTarget,
  insertDocuments,
  NOTHING_INDEXED,
} from "../../knowledge/documents/documents.ts";
import { whyNotIndexed } from "../../knowledge/documents/not-indexed.ts";
import { carryOver, findActiveDocuments } from "../../knowledge/embedding/carry-over.ts";
import type { Transaction } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/log.ts";
import type { JobRow } from "../jobs/lifecycle.ts";
import type { CapturedPage } from "./captured-page.ts";
import { outcomeOf } from "./outcomes.ts";

/**
 * Looks up the documents of unmodified pages. A page has the links of its document; where there is none it needs
 * another try.
 */
export async function carryUnmodified(
  tx: Transaction,
  job: JobRow,
  pages: readonly CapturedPage[],
): Promise<CapturedPage[]> {
  const isUnmodified = ({ capture, outcome }: CapturedPage) => outcome.state === "crawled" && capture.notModified;
  const hashes = pages.filter(isUnmodified).map(({ finalHash }) => finalHash);
  const active = await findActiveDocuments(tx, job.collectionId, hashes);
  return pages.map((page) => {
    if (!isUnmodified(page)) return page;
    const unmodified = active.get(page.finalHash);
    return unmodified === undefined
      ? { ...page, outcome: outcomeOf({ ...page.capture, error: NOTHING_TO_CARRY_OVER }, page.url.attempt) }
      : { ...page, unmodified, links: unmodified.links };
  });
}

/** The document was removed since the claim, or the server answers 304 to a request without conditions: ask again. */
const NOTHING_TO_CARRY_OVER = {
  code: "INVALID_RESPONSE",
  message: "The server says that the page is unmodified, but no document of it is known",
  retryable: true,
};

type IndexedPage = Pick<CapturedPage, "capture" | "captureId" | "finalUrl" | "finalHash" | "unmodified"> & {
  url: Pick<CapturedPage["url"], "discoveredFrom">;
  outcome: Pick<CapturedPage["outcome"], "state">;
};

/**
 * Writes the documents of the pages, and copies those of unmodified ones; none where the job is cancelled or not to be
 * indexed.
 * @param maxTokens what the embedder reads; null where there is none
 */
export async function indexPages(
  tx: Transaction,
  job: JobRow,
  pages: readonly IndexedPage[],
  maxTokens: number | null,
  log: Logger,
): Promise<IndexedPages> {
  if (job.cancelRequested || !job.settings.index) return NOTHING_INDEXED;
  const target = indexTarget(job, maxTokens !== null);
  const { config } = job.settings;
  const limits = chunkLimits(config, maxTokens);
  const assumedLanguage = await assumedLanguageOf(tx, job, pages);
  const documents = pages.flatMap(({ capture, captureId, finalUrl, finalHash, outcome, url }) => {
    const { extraction } = capture;
    if (outcome.state !== "crawled" || capture.notModified || extraction === null) return [];
    if (whyNotIndexed(extraction, config.languages) !== null) return [];
    const page = { capture: { ...capture, extraction }, captureId, url: finalUrl, urlHash: finalHash };
    return [documentOf({ ...page, parentUrl: url.discoveredFrom, assumedLanguage }, limits)];
  });
  for (const { row, chunks } of documents) {
    if (chunks.length < limits.most) continue;
    log.warn("a page has more text than is made searchable", { job_id: job.id, url: row.url, chunks: chunks.length });
  }
  const carried = pages.flatMap(({ unmodified, url, capture }) =>
    unmodified === undefined
      ? []
      : [{ document: unmodified, parentUrl: url.discoveredFrom, crawledAt: capture.fetchedAt }],
  );
  const written = await insertDocuments(tx, target, documents);
  const copied = await carryOver(tx, target, carried);
  return {
    documents: written.documents + copied.documents,
    chunkIds: [...written.chunkIds, ...copied.chunkIds],
  };
}

/** What the collection says that pages are in whose language cannot be told; not asked for where there is none. */
async function assumedLanguageOf(
  tx: Transaction,
  { collectionId }: JobRow,
  pages: readonly IndexedPage[],
): Promise<string | undefined> {
  if (collectionId === null || !pages.some(({ capture }) => capture.extraction?.language === "und")) return undefined;
  const [row] = await tx<{ language: string | null }[]>`
    select defaults ->> 'language' as language from collections where id = ${collectionId}`;
  return row?.language ?? undefined;
}

export function indexTarget(job: JobRow, wantsVectors: boolean): IndexTarget {
  const { id: jobId, generationId, collectionId, settings } = job;
  return { jobId, generationId, collectionId, tags: settings.tags, wantsVectors };
}
