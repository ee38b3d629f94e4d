/** A captured page on its way through ingest: what each step knows of it. */
import type { Capture } from "../../capture/capture.ts";
import type { ActiveDocument } from "../../knowledge/embedding/carry-over.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { type ClaimedUrl, lockClaimed } from "../frontier/frontier.ts";
import type { JobRow } from "../jobs/lifecycle.ts";
import { keyRules, normalizeUrl, urlHash } from "../urls/normalize-url.ts";
import type { EndedPage } from "./advance-job.ts";
import { outcomeOf } from "./outcomes.ts";

export interface PlacedCapture {
  capture: Capture;
  /** Its position in the batch object. */
  index: number;
}

/** A capture whose URL its task is responsible for; the row of the frontier is locked. */
export interface LockedPage extends PlacedCapture {
  url: ClaimedUrl;
}

/** With the key of the page's document within the job's generation. */
export interface KeyedPage extends LockedPage {
  /** Normalised. */
  finalUrl: string;
  /** SHA-256 of it, hex. */
  finalHash: string;
  /** Of a page of a site: see same-text.ts. */
  textKey?: string | null;
}

/** With the row of its capture. */
export interface StoredPage extends KeyedPage {
  captureId: number;
}

/** With what becomes of its URL. */
export interface CapturedPage extends StoredPage, EndedPage {
  /** Of a page that is unmodified: the document that is copied. */
  unmodified?: ActiveDocument;
}

/**
 * Locks the frontier rows that the task is still responsible for, and leaves out captures of other URLs, and of one URL
 * twice.
 */
export async function lockPages(
  tx: Transaction,
  jobId: string,
  taskId: string,
  placed: readonly PlacedCapture[],
): Promise<LockedPage[]> {
  const captured = new Map(placed.toReversed().map((each) => [each.capture.urlHash, each]));
  const claimed = await lockClaimed(tx, jobId, taskId, [...captured.keys()]);
  const pages = claimed.map((url) => ({ ...(captured.get(url.urlHash) as PlacedCapture), url }));
  return pages.toSorted((a, b) => a.index - b.index);
}

export function withKey(page: LockedPage, { settings }: JobRow): KeyedPage {
  const finalUrl = normalizeUrl(page.capture.finalUrl, keyRules(settings.config));
  return { ...page, finalUrl, finalHash: urlHash(finalUrl) };
}

/** Bytes of its records, those of the browser included. */
export const warcBytes = ({ warc, rendered }: Capture): number => (warc?.length ?? 0) + (rendered?.warc?.length ?? 0);

export function withOutcome(page: StoredPage): CapturedPage {
  const { capture, url } = page;
  const { extraction, payloadBytes } = capture;
  return {
    ...page,
    outcome: outcomeOf(capture, url.attempt),
    links: extraction === null || extraction.robots.nofollow ? [] : extraction.links,
    page: extraction,
    payloadBytes,
    storedBytes: warcBytes(capture),
    reused: false,
  };
}
