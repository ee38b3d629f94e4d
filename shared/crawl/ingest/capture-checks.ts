/** Checks that a captured page must pass before it is indexed; one that does not is archived all the same. */
import type { CaptureError } from "../../capture/capture.ts";
import type { Transaction } from "../../platform/database/database.ts";
import type { JobRow } from "../jobs/lifecycle.ts";
import { scopeCheckOf } from "../urls/exact-scope.ts";
import { type KeyedPage, type LockedPage, withKey } from "./captured-page.ts";
import { textKey } from "./same-text.ts";

/** URLs of a job that may have one and the same body, or main text; seeds do not count. */
const SAME_PAGES = 50;

/**
 * Refuses pages whose redirect led out of the job's scope, as its patterns and the public suffix list have it, and
 * pages that the job has seen under very many URLs: by their body, or by their main text.
 * @returns the pages, those refused with their error, in the order given
 */
export async function checkCapturedPages(
  tx: Transaction,
  job: JobRow,
  pages: readonly LockedPage[],
): Promise<KeyedPage[]> {
  const scope = scopeCheckOf(job.id, job.settings.scope);
  const checked = pages.map((locked) => {
    const page = withKey(locked, job);
    const { capture, finalUrl, url } = page;
    const redirected = capture.error === null && capture.redirects.length > 0;
    if (!redirected || scope.admits(new URL(finalUrl), url.depth === 0)) return page;
    return refused(page, fault("OUT_OF_SCOPE", "The redirect leads out of the scope of the job"));
  });
  if (job.kind !== "site") return checked;
  const keyed = checked.map((page) => ({ page, text: textKey(page.capture) }));
  const [bodies, texts] = await Promise.all([countBodies(tx, job.id, checked), countTexts(tx, job.id, keyed)]);
  return keyed.map(({ page, text }) => {
    const { capture, url } = page;
    if (capture.error !== null || capture.payloadDigest === null) return page;
    const sameBody = countOne(bodies, capture.payloadDigest);
    const sameText = text === null ? 0 : countOne(texts, text);
    if (url.depth === 0 || Math.max(sameBody, sameText) < SAME_PAGES) return { ...page, textKey: text };
    const what = sameBody < SAME_PAGES ? "main text" : "body";
    return refused(page, fault("DUPLICATE_CONTENT", `More than ${SAME_PAGES} URLs of the job have this very ${what}`));
  });
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
async function countTexts(
  tx: Transaction,
  jobId: string,
  pages: readonly { text: string | null }[],
): Promise<Map<string, number>> {
  const keys = pages.flatMap(({ text }) => text ?? []);
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
