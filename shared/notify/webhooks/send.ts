/**
 * Makes one attempt of a delivery. Receivers are strangers: the URL guard checks where each connection goes, no
 * redirect is followed, and neither slow, nor endless, nor huge answers are waited for.
 */
import type { UrlGuard } from "../../access/url-guard.ts";
import { UrlRefusedError } from "../../access/url-inspection.ts";
import { retryAfterMs } from "../../platform/retry-after.ts";
import { cutText } from "../../platform/text.ts";
import type { Attempt, AttemptMessage, AttemptResult } from "./attempts.ts";
import { MOST_RETRY_AFTER_MS } from "./backoff.ts";
import { SIGNATURE_HEADER, signatureOf } from "./signature.ts";

/** Until the head of the answer is there; a receiver that has more to do answers 202 and does it later. */
const ANSWER_MS = 10_000;
/** Until as much of the body is there as is kept. */
const BODY_MS = 2_000;
const KEPT_BODY_BYTES = 1_000;
const MOST_HEAD_BYTES = 16 * 1024;
const LONGEST_ERROR_BYTES = 300;

export interface SendOptions {
  guard: UrlGuard;
  userAgent: string;
  now: () => number;
  answerMs?: number;
}

/** Never throws for what the receiver does. */
export async function sendAttempt(
  { guard, userAgent, now, answerMs = ANSWER_MS }: SendOptions,
  { deliveryId, attempt }: AttemptMessage,
  { url, event, headers, secrets, body }: Attempt,
): Promise<AttemptResult> {
  const begun = now();
  const timestamp = Math.floor(begun / 1000);
  const signature = signatureOf(secrets, timestamp, body);
  const result = (answer: Pick<AttemptResult, "status" | "body" | "error" | "retryAfterMs">): AttemptResult => ({
    deliveryId,
    attempt,
    at: new Date(begun).toISOString(),
    durationMs: Math.max(0, now() - begun),
    ...answer,
  });
  const late = AbortSignal.timeout(answerMs);
  const client = guard.dispatcher({
    connectTimeoutMs: answerMs,
    maxHeaderSize: MOST_HEAD_BYTES,
    headersTimeout: answerMs,
    bodyTimeout: BODY_MS,
    pipelining: 0,
  });
  try {
    const { origin, pathname, search } = guard.inspect(url);
    const response = await client.request({
      origin,
      path: pathname + search,
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        "user-agent": userAgent,
        "strandline-delivery": deliveryId,
        "strandline-event": event,
        "strandline-attempt": String(attempt),
        ...(signature !== undefined && { [SIGNATURE_HEADER]: signature }),
      },
      body,
      signal: late,
    });
    const { statusCode: status } = response;
    const text = await beginningOf(response.body);
    const asked = retryAfterMs(headerOf(response.headers["retry-after"]), now(), undefined, MOST_RETRY_AFTER_MS);
    const isTaken = status >= 200 && status < 300;
    const error = isTaken ? null : status >= 300 && status < 400 ? REDIRECTED : `The receiver answered ${status}`;
    return result({ status, body: text, error, retryAfterMs: isTaken ? null : (asked ?? null) });
  } catch (error) {
    const said = late.aborted ? `No answer came within ${answerMs / 1000} s` : reasonOf(error);
    return result({ status: null, body: "", error: cutText(said, LONGEST_ERROR_BYTES).text, retryAfterMs: null });
  } finally {
    await client.destroy();
  }
}

const REDIRECTED = "The receiver answered with a redirect, which is not followed: give the webhook its last address";

const headerOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** What of the body comes in time: a 2xx counts, whatever follows it. */
async function beginningOf(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => body.destroy(), BODY_MS);
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= KEPT_BODY_BYTES) break;
    }
  } catch {
    // the status is what counts
  } finally {
    clearTimeout(timer);
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, KEPT_BODY_BYTES));
}

/** Names nothing of the request: a URL may hold a token, as headers do. */
function reasonOf(error: unknown): string {
  if (error instanceof UrlRefusedError) return error.message;
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN";
  if (/HEADERS?_OVERFLOW/.test(code)) return "The headers of the answer are longer than is allowed";
  return `The receiver could not be reached: ${code}`;
}
