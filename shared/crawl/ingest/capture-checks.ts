/** What ingest has against a page that fetch had nothing against: it is archived, and neither searchable nor followed. */
import type { Capture, CaptureError } from "../../capture/capture.ts";
import type { Transaction } from "../../platform/database/database.ts";
import type { ClaimedUrl } from "../frontier/frontier.ts";
import type { JobRow } from "../jobs/lifecycle.ts";
import { scopeCheckOf } from "../urls/exact-scope.ts";

/** URLs of a job that may have one and the same body; seeds do not count. */
const SAME_BODIES = 50;

interface Arrived {
  capture: Capture;
  /** Normalised. */
  finalUrl: string;
}

/**
 * Redirects that led out of the job's scope, as its patterns and the public suffix list have it, and bodies that the job has
 * seen under very many URLs.
 * @returns the captures with what is wrong with them, in the order given
 */
export async function checkCapturedPages<Each extends Arrived>(
  tx: Transaction,
  job: JobRow,
  arrived: readonly Each[],
  urls: ReadonlyMap<string, ClaimedUrl>,
): Promise<Each[]> {
  const scope = scopeCheckOf(job.id, job.settings.scope);
  const checked = arrived.map((each) => {
    const { capture, finalUrl } = each;
    const depth = urls.get(capture.urlHash)?.depth ?? 0;
    const redirected = capture.error === null && capture.redirects.length > 0;
    if (!redirected || scope.admits(new URL(finalUrl), depth === 0)) return each;
    return refused(each, fault("OUT_OF_SCOPE", "The redirect leads out of the scope of the job"));
  });
  if (job.kind !== "site") return checked;
  const bodies = await countBodies(tx, job.id, checked);
  return checked.map((each) => {
    const { capture } = each;
    const depth = urls.get(capture.urlHash)?.depth ?? 0;
    if (capture.error !== null || capture.payloadDigest === null) return each;
    const before = bodies.get(capture.payloadDigest) ?? 0;
    bodies.set(capture.payloadDigest, before + 1);
    if (depth === 0 || before < SAME_BODIES) return each;
    return refused(each, fault("DUPLICATE_CONTENT", `More than ${SAME_BODIES} URLs of the job have this very body`));
  });
}

const fault = (code: string, message: string): CaptureError => ({ code, message, retryable: false });

function refused<Each extends Arrived>(each: Each, error: CaptureError): Each {
  return { ...each, capture: { ...each.capture, extraction: null, error } };
}

/** How many captures of the job have these bodies, counted no further than matters. */
async function countBodies(tx: Transaction, jobId: string, arrived: readonly Arrived[]): Promise<Map<string, number>> {
  const digests = arrived.flatMap(({ capture }) => (capture.error === null ? (capture.payloadDigest ?? []) : []));
  if (digests.length === 0) return new Map();
  const rows = await tx<{ digest: string; captures: number }[]>`
    select d.digest, c.captures from unnest(${[...new Set(digests)]}::text[]) d (digest)
    cross join lateral (
      select count(*)::int as captures from (
        select from captures where job_id = ${jobId} and payload_digest = d.digest and error_code is null
        limit ${SAME_BODIES}) seen) c
    where c.captures > 0`;
  return new Map(rows.map(({ digest, captures }) => [digest, captures]));
}
