/** One exchange → its WARC records. */
import { labelledDigest } from "../capture/digest.ts";
import { newRecordId, requestRecord, responseRecord, revisitRecord } from "../capture/warc-record.ts";
import type { WarcMember } from "../capture/warc-segment.ts";
import { type Exchange, requestTarget } from "./exchange.ts";
import type { PriorCapture } from "./fetch-task.ts";

export interface ArchivedExchange {
  /** `request` and then `response` or `revisit`; empty where no answer came. */
  members: WarcMember[];
  /** Of the response or revisit. */
  recordId: string | null;
  /** Of the body as received; null where it is empty. */
  payloadDigest: string | null;
}

/**
 * A 304, or the same payload as the prior capture's, becomes a revisit of that. A request without an answer is not archived:
 * the capture tells of it.
 */
export async function archiveExchange(
  { url, requestHeaders, startedAt, response }: Exchange,
  prior: PriorCapture | null,
): Promise<ArchivedExchange> {
  if (response === null) return { members: [], recordId: null, payloadDigest: null };
  const recordId = newRecordId();
  const options = { url: url.href, date: startedAt, recordId, truncated: response.truncated };
  const startLine = `HTTP/1.1 ${response.status} ${response.statusText}`;
  const message = { startLine, headers: response.headers, body: response.body };
  const digest = labelledDigest(response.body);
  const member = await answerRecord();

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
  };

  function answerRecord(): Promise<Buffer> {
    if (response === null || prior === null) return responseRecord(message, digest, options);
    const of = { url: prior.url, date: prior.fetchedAt, recordId: prior.recordId, payloadDigest: prior.payloadDigest };
    if (response.status === 304) return revisitRecord(message, { profile: "server-not-modified", ...of }, options);
    const same = response.truncated === null && response.body.length > 0 && prior.payloadDigest === digest;
    if (same) return revisitRecord(message, { profile: "identical-payload-digest", ...of }, options);
    return responseRecord(message, digest, options);
  }
}
