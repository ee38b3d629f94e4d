/** Checks that a captured page must pass before it is indexed; one that does not is archived all the same. */
import type { CaptureError } from "../../capture/capture.ts";
import type { Transaction } from "../../platform/database/database.ts";
import type { JobRow } from "../jobs/lifecycle.ts";
import { scopeCheckOf } from "../urls/exact-scope.ts";
import { hostOf } from "../urls/normalize-url.ts";
import { type KeyedPage, type LockedPage, withKey } from "./captured-page.ts";
import { lastingText, textKey } from "./same-text.ts";
import { type HostTexts, noticeText, readTexts, splitText } from "./varying-text.ts";

/** URLs of a job that may have one and the same body, or main text; seeds do not count. */
const SAME_PAGES = 50;

export interface CheckedPages {
  pages: KeyedPage[];
  /** To be kept with the transaction. */
  texts: HostTexts;
}

/**
 * Refuses pages whose redirect led out of the job's scope, as its patterns and the public suffix list have it, and
 * pages that the job has seen under very many URLs: by their body, or by their main text. A page whose text may be
 * another with each answer has an error that asks for it again.
 * @returns the pages, those refused with their error, in the order given
 */
export async function checkCapturedPages(
  tx: Transaction,
  job: JobRow,
  pages: readonly LockedPage[],
): Promise<CheckedPages> {
  const scope = scopeCheckOf(job.id, job.settings.scope);
  const checked = pages.map((locked) => {
    const page = withKey(locked, job);
    const { capture, finalUrl, url } = page;
    const redirected = capture.error === null && capture.redirects.length > 0;
    if (!redirected || scope.admits(new URL(finalUrl), url.depth === 0)) return page;
    return refused(page, fault("OUT_OF_SCOPE", "The redirect leads out of the scope of the job"));
  });
  if (job.kind !== "site") return { pages: checked, texts: new Map() };
  const saying = checked.map((page) => ({ page, says: lastingText(page.capture) }));
  const hosts = saying.flatMap(({ page, says }) => (says === null ? [] : hostOf(page.finalUrl)));
  const texts = await readTexts(tx, job.id, [...new Set(hosts)]);
  const keyed = saying.map(({ page, says }) => withTextKey(page, says, texts));
  const [bodies, same] = await Promise.all([countBodies(tx, job.id, keyed), countTexts(tx, job.id, keyed)]);
  const kept = keyed.map((page) => {
    const { capture, url, textKey: text = null } = page;
    if (capture.error !== null || capture.payloadDigest === null) return { ...page, textKey: null };
    const sameBody = countOne(bodies, capture.payloadDigest);
    const sameText = text === null ? 0 : countOne(same, text);
    if (url.depth === 0 || Math.max(sameBody, sameText) < SAME_PAGES) return page;
    const what = sameBody < SAME_PAGES ? "main text" : "body";
    const error = fault("DUPLICATE_CONTENT", `More than ${SAME_PAGES} URLs of the job have this very ${what}`);
    return { ...refused(page, error), textKey: null };
  });
  return { pages: kept, texts };
}

function withTextKey(page: KeyedPage, says: string | null, texts: HostTexts): KeyedPage {
  const known = texts.get(hostOf(page.finalUrl))?.known;
  if (says === null || known === undefined) return { ...page, textKey: null };
  const { capture, url, finalUrl } = page;
  const key = noticeText(known, {
    url: finalUrl,
    urlHash: capture.urlHash,
    text: splitText(says),
    mayAsk: url.depth > 0 && url.attempt === 0,
  });
  if (key !== "ask") return { ...page, textKey: key ?? textKey(says) };
  const message =
    "Very many pages differ from this one in numbers alone: it is asked for again to see whether it does, too";
  return refused(page, { code: "ASKED_AGAIN", message, retryable: true });
}

/** @returns how many there were before */
function countOne(counts: Map<string, number>, key: string): number {
  const before = counts.get(key) ?? 0;
  counts.set(key, before + 1);
  return before;
}

const fault = (code: string, message: string): CaptureError => ({ code, message, retryable: false });

function refused(page: KeyedPage, error: CaptureError): KeyedPage {
  return { ...page, capture: { ...page.capture, extraction: null, error } };
}

/** Counts the captures of the job that have these bodies, no further than matters. */
async function countBodies(tx: Transaction, jobId: string, pages: readonly KeyedPage[]): Promise<Map<string, number>> {
  const digests = pages.flatMap(({ capture }) => (capture.error === null ? (capture.payloadDigest ?? []) : []));
  if (digests.length === 0) return new Map();
  const rows = await tx<{ digest: string; captures: number }[]>`
    select d.digest, c.captures from unnest(${[...new Set(digests)]}::text[]) d (digest)
    cross join lateral (
      select count(*)::int as captures from (
        select from captures
        where page_key(job_id, payload_digest) = page_key(${jobId}, d.digest)
          and error_code is null and payload_digest is not null
        limit ${SAME_PAGES}) seen) c
    where c.captures > 0`;
  return new Map(rows.map(({ digest, captures }) => [digest, captures]));
}

/** As `countBodies`, by main text. */
async function countTexts(tx: Transaction, jobId: string, pages: readonly KeyedPage[]): Promise<Map<string, number>> {
  const keys = pages.flatMap(({ textKey }) => textKey ?? []);
  if (keys.length === 0) return new Map();
  const rows = await tx<{ key: string; captures: number }[]>`
    select t.key, c.captures from unnest(${[...new Set(keys)]}::text[]) t (key)
    cross join lateral (
      select count(*)::int as captures from (
        select from captures
        where page_key(job_id, encode(text_key, 'hex')) = page_key(${jobId}, t.key)
          and error_code is null and text_key is not null
        limit ${SAME_PAGES}) seen) c
    where c.captures > 0`;
  return new Map(rows.map(({ key, captures }) => [key, captures]));
}
