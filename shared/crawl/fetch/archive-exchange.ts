/** Makes the WARC records of one exchange. */
import { labelledDigest } from "../../capture/digest.ts";
import {
  newRecordId,
  type RevisitOf,
  requestRecord,
  responseRecord,
  revisitRecord,
} from "../../capture/warc-record.ts";
import type { WarcMember } from "../../capture/warc-segment.ts";
import { type Exchange, type HttpResponse, requestTarget } from "../http/exchange.ts";
import type { PriorCapture } from "../tasks/fetch-task.ts";

export interface ArchivedExchange {
  /** `request` and then `response` or `revisit`; empty where no response came. */
  members: WarcMember[];
  /** Of the response or revisit. */
  recordId: string | null;
  /** Of the body as received; null where it is empty. */
  payloadDigest: string | null;
  /** Whether the record is a revisit of the prior capture. */
  revisit: boolean;
}

/**
 * A 304, or the same payload as the prior capture's, becomes a revisit of that. A request without a response is not
 * archived: the capture says so.
 */
export async function archiveExchange(
  { url, requestHeaders, startedAt, response }: Exchange,
  prior: PriorCapture | null,
): Promise<ArchivedExchange> {
  if (response === null) return { members: [], recordId: null, payloadDigest: null, revisit: false };
  const recordId = newRecordId();
  const options = { url: url.href, date: startedAt, recordId, truncated: response.truncated };
  const digest = labelledDigest(response.body);
  const profile = prior === null ? null : revisitProfile(response, digest, prior);
  const member = await responseOrRevisit(response);

  const requestId = newRecordId();
  const request = await requestRecord(
    { startLine: `GET ${requestTarget(url)} HTTP/1.1`, headers: requestHeaders, body: Buffer.alloc(0) },
    { url: url.href, date: startedAt, recordId: requestId, concurrentTo: recordId },
  );
  return {
    members: [
      { recordId: requestId, member: request },
      { recordId, member },
    ],
    recordId,
    payloadDigest: response.body.length === 0 ? null : digest,
    revisit: profile !== null,
  };

  function responseOrRevisit(archived: HttpResponse): Promise<Buffer> {
    if (prior === null || profile === null) return responseRecord(archived, digest, options);
    const of = { url: prior.url, date: prior.fetchedAt, recordId: prior.recordId, payloadDigest: prior.payloadDigest };
    return revisitRecord(archived, { profile, ...of }, options);
  }
}

/** Whether the server was asked on a condition, so that 304 is an answer. */
export const isConditional = (prior: PriorCapture | null): boolean =>
  prior !== null && (prior.etag !== null || prior.lastModified !== null);

/** The payload is compared as received: another content coding of the same text is another payload. */
function revisitProfile(
  { status, body, truncated }: HttpResponse,
  digest: string,
  prior: PriorCapture,
): RevisitOf["profile"] | null {
  if (status === 304) return isConditional(prior) ? "server-not-modified" : null;
  const same = truncated === null && body.length > 0 && prior.payloadDigest === digest;
  return same ? "identical-payload-digest" : null;
}
