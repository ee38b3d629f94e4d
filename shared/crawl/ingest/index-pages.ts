/** The captured pages of a batch as documents of the job's generation. */
import type { Capture } from "../../capture/capture.ts";
import {
  chunkLimits,
  documentOf,
  type IndexedPages,
  type IndexTarget,
  insertDocuments,
  isIndexable,
} from "../../knowledge/documents/documents.ts";
import { type CarriedOver, carryOver, findActiveDocuments } from "../../knowledge/embedding/carry-over.ts";
import type { Transaction } from "../../platform/database/database.ts";
import type { JobRow } from "../jobs/lifecycle.ts";
import type { Ended } from "./advance-job.ts";
import { outcomeOf } from "./outcomes.ts";

/** A capture together with its frontier row and what follows for it. */
export interface CapturedPage extends Ended {
  capture: Capture;
  /** Hash of the normalised final URL: the document's key. */
  finalHash: string;
}

/**
 * Writes the documents of the pages, and copies those of pages that are unmodified; none where the job is not to be indexed.
 * An arrival that turns out to need another try gets that outcome here.
 * @param maxTokens what the embedder reads; null where there is none
 */
export async function indexPages(
  tx: Transaction,
  job: JobRow,
  capturedPages: readonly CapturedPage[],
  maxTokens: number | null,
): Promise<IndexedPages> {
  const target: IndexTarget = {
    jobId: job.id,
    generationId: job.generationId,
    collectionId: job.collectionId,
    tags: job.settings.tags,
    wantsVectors: maxTokens !== null,
  };
  const { config, index } = job.settings;
  const limits = chunkLimits(config, maxTokens);
  const crawled = capturedPages.filter(({ outcome }) => outcome.state === "crawled");
  const documents = crawled.flatMap(({ capture, captureId, finalUrl, finalHash, url }) => {
    const { extraction } = capture;
    if (!index || capture.notModified || extraction === null || !isIndexable(extraction, config.languages)) return [];
    const page = { capture: { ...capture, extraction }, captureId, url: finalUrl, urlHash: finalHash };
    return [documentOf({ ...page, parentUrl: url.discoveredFrom }, limits)];
  });
  const unmodified = crawled.filter(({ capture }) => capture.notModified);
  const active = await findActiveDocuments(
    tx,
    job.collectionId,
    unmodified.map(({ finalHash }) => finalHash),
  );
  const carried = unmodified.flatMap((captured): CarriedOver[] => {
    const document = active.get(captured.finalHash);
    if (document === undefined) {
      captured.outcome = outcomeOf({ ...captured.capture, error: NOTHING_TO_CARRY_OVER }, captured.url.attempt);
      return [];
    }
    captured.links = document.links;
    return [{ document, parentUrl: captured.url.discoveredFrom, crawledAt: captured.capture.fetchedAt }];
  });
  if (!index) return { documents: 0, chunkIds: [] };
  const [written, copied] = [await insertDocuments(tx, target, documents), await carryOver(tx, target, carried)];
  return {
    documents: written.documents + copied.documents,
    chunkIds: [...written.chunkIds, ...copied.chunkIds],
  };
}

/** The document was removed since the claim, or the server answers 304 to a request without conditions: ask again. */
const NOTHING_TO_CARRY_OVER = {
  code: "INVALID_RESPONSE",
  message: "The server says that the page is unmodified, but no document of it is known",
  retryable: true,
};
