/**
 * Makes one HTTP request and keeps what came back, as bytes. Nothing is thrown for what a server does: a fault stands
 * beside whatever arrived before it, since that is archived too.
 */
import type { Agent, Dispatcher } from "undici";
import { STATUS_LINE_HEADER } from "../../access/lenient-answers.ts";
import type { CaptureError } from "../../capture/capture.ts";
import type { Truncation } from "../../capture/warc-record.ts";
import { decodeContent, transferCodings } from "./content-coding.ts";
import { describeFault, fault } from "./faults.ts";

export interface HttpResponse {
  status: number;
  /** As received, latin1; mended where it kept to HTTP in part only. */
  startLine: string;
  /** As received: case, order and repetition kept; latin1. */
  headers: [string, string][];
  /** Content coding kept, transfer codings removed. */
  body: Buffer;
  truncated: Truncation | null;
}

export interface Exchange {
  url: URL;
  /** As sent, in order. */
  requestHeaders: [string, string][];
  /** Epoch ms at which the request was sent, or given up where it never was. */
  startedAt: number;
  /** From sending to the last byte, in ms. */
  durationMs: number;
  response: HttpResponse | null;
  fault: CaptureError | null;
}

export interface ExchangeLimits {
  /** For the whole exchange, in ms. */
  timeoutMs: number;
  /** Whether no part of it, such as the wait for headers, has a shorter limit of its own. */
  whole?: boolean;
  /** Bytes of the body as received; the rest is not read. */
  maxBodyBytes: number;
  /** Ends it at once, wherever it stands: for who waits for this page alone. */
  stop?: AbortSignal | undefined;
}

export interface RequestLimits extends ExchangeLimits {
  /**
   * Whether the request continues what an earlier one has begun, as after a redirect, and would have to be begun again:
   * it waits longer for its turn.
   */
  continues?: boolean;
  /** Whether the URL was asked for before, without success: when it fails again, that says nothing of its host. */
  retried?: boolean;
}

/** Holds back large bodies, so that a few of them do not fill the memory: see `createBodyBudget`. */
export interface BodyBudget {
  /**
   * Runs `resume` when there is room for one more large body.
   * @returns called when that body is done
   */
  enter(resume: () => void): () => void;
}

/** The moment at which a request is written, which may be long after it was handed over: connections take time. */
export interface Departure {
  /**
   * Called right before.
   *
   * @throws what keeps the request from leaving: it is not sent then, and its connection is kept for others
   */
  begin(): void;
  /** The request is written, or given up; not called where `begin` threw. */
  end(): void;
}

/** A body up to this size needs no leave. */
const LARGE_BODY_BYTES = 1024 * 1024;

/**
 * @param headers sent in this order after Host and Connection
 * @throws what `departure.begin` throws, and the reason of `limits.stop`
 */
export function exchange(
  client: Agent,
  url: URL,
  headers: readonly [string, string][],
  limits: ExchangeLimits,
  budget: BodyBudget,
  departure: Departure,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    // what undici writes by itself comes first
    const requestHeaders: [string, string][] = [["host", url.host], ["connection", "keep-alive"], ...headers];
    let phase: "connecting" | "sent" | "body" | "done" = "connecting";
    let startedAt = Date.now();
    let leftAt = performance.now();
    let response: HttpResponse | null = null;
    let controller: Dispatcher.DispatchController | undefined;
    let leave: (() => void) | undefined;
    const chunks: Buffer[] = [];
    let received = 0;

    /** @returns whether it had not ended already */
    const finish = (): boolean => {
      if (phase === "done") return false;
      if (phase === "connecting") departure.end();
      phase = "done";
      clearTimeout(timer);
      limits.stop?.removeEventListener("abort", onStop);
      leave?.();
      return true;
    };
    const settle = (error: CaptureError | null, truncated: Truncation | null): void => {
      if (!finish()) return;
      // by a clock that nobody sets: a duration below 0 would spoil the batch of its capture
      const durationMs = performance.now() - leftAt;
      const resolved = (failure: CaptureError | null): void =>
        resolve({ url, requestHeaders, startedAt, durationMs, response, fault: failure });
      if (response !== null) {
        response.body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
        response.truncated = truncated;
      }
      const codings = response === null ? undefined : transferCodings(response.headers);
      if (response === null || codings === undefined) resolved(error);
      else
        withoutTransferCodings(response, codings, limits.maxBodyBytes).then(
          (failure) => resolved(error ?? failure),
          reject,
        );
    };
    const stop = (): void => controller?.abort(new Error("the exchange is over"));
    const onStop = (): void => {
      if (!finish()) return;
      reject(limits.stop?.reason);
      stop();
    };
    limits.stop?.addEventListener("abort", onStop);
    const timer = setTimeout(() => {
      const code = phase === "connecting" ? "CONNECT_TIMEOUT" : phase === "sent" ? "HEADERS_TIMEOUT" : "BODY_TIMEOUT";
      settle(fault(code, `The page took longer than ${limits.timeoutMs} ms`), "time");
      stop();
    }, limits.timeoutMs);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        // given up while the connection was made: nothing is sent
        if (phase === "done") return stop();
        try {
          departure.begin();
        } catch (error) {
          phase = "done";
          clearTimeout(timer);
          limits.stop?.removeEventListener("abort", onStop);
          reject(error);
          // undici then drops the request, and neither writes it nor closes the connection
          throw error;
        }
        phase = "sent";
        startedAt = Date.now();
        leftAt = performance.now();
        // once undici has written it, which it does in the same tick
        queueMicrotask(departure.end);
      },
      onResponseStart(started, status, _headers, statusText = "") {
        if (status < 200 || phase === "done") return;
        phase = "body";
        response = {
          status,
          ...headOf(started.rawHeaders as Buffer[], `HTTP/1.1 ${status} ${statusText}`),
          body: Buffer.alloc(0),
          truncated: null,
        };
      },
      onResponseData(started, chunk) {
        if (phase !== "body") return;
        received += chunk.length;
        if (received > limits.maxBodyBytes) {
          chunks.push(chunk.subarray(0, chunk.length - (received - limits.maxBodyBytes)));
          settle(null, "length");
          return stop();
        }
        chunks.push(chunk);
        if (received > LARGE_BODY_BYTES && leave === undefined) {
          started.pause();
          leave = budget.enter(() => started.resume());
        }
      },
      onResponseEnd: () => settle(null, null),
      onResponseError(_started, error) {
        const received = response !== null;
        const described = describeFault(error, phase === "connecting" ? "connect" : received ? "body" : "headers");
        // the client counts bytes where there are none: the length may be that of the answer to another request
        if (described.code === "LENGTH_MISMATCH" && hasNoBody(response)) return settle(null, null);
        settle(described, described.code === "BODY_TIMEOUT" ? "time" : "disconnect");
      },
    };
    try {
      client.dispatch(
        {
          origin: url.origin,
          path: requestTarget(url),
          method: "GET",
          headers: headers.flat(),
          ...(limits.whole && { headersTimeout: 0, bodyTimeout: 0 }),
        },
        handler,
      );
    } catch (error) {
      settle(describeFault(error, "connect"), null);
    }
  });
}

/** @returns why the body stays as it came; null where it does not */
async function withoutTransferCodings(
  response: HttpResponse,
  codings: string,
  maxBytes: number,
): Promise<CaptureError | null> {
  const decoded = await decodeContent(response.body, codings, maxBytes, response.truncated !== null);
  if ("failed" in decoded) return fault("DECODE_FAILED", `Transfer-Encoding: ${decoded.failed}`);
  response.body = decoded.bytes;
  if (decoded.truncated) response.truncated ??= decoded.bytes.length < maxBytes ? "disconnect" : "length";
  return null;
}

/** 204, and 304 whose Content-Length tells what a 200 would hold (RFC 9110 sections 6.4.1 and 8.6). */
const hasNoBody = (response: HttpResponse | null): boolean => response?.status === 204 || response?.status === 304;

export const requestTarget = (url: URL): string => url.pathname + url.search;

function headOf(raw: readonly Buffer[], plain: string): Pick<HttpResponse, "startLine" | "headers"> {
  const headers = pairs(raw);
  const [first] = headers;
  if (first?.[0] !== STATUS_LINE_HEADER) return { startLine: plain, headers };
  return { startLine: Buffer.from(first[1], "hex").toString("latin1"), headers: headers.slice(1) };
}

function pairs(raw: readonly Buffer[]): [string, string][] {
  const headers: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    headers.push([(raw[index] as Buffer).toString("latin1"), (raw[index + 1] as Buffer).toString("latin1")]);
  }
  return headers;
}

/** At most `slots` large bodies are read at a time; the others wait with their sockets paused. */
export function createBodyBudget(slots: number): BodyBudget {
  let free = slots;
  const waiting = new Set<() => void>();
  return {
    enter(resume) {
      let entered = false;
      const go = (): void => {
        entered = true;
        free -= 1;
        // never within the callback of another connection: undici parses one at a time
        setImmediate(resume);
      };
      if (free > 0) go();
      else waiting.add(go);
      return () => {
        waiting.delete(go);
        if (!entered) return;
        entered = false;
        free += 1;
        const [next] = waiting;
        if (next === undefined) return;
        waiting.delete(next);
        next();
      };
    },
  };
}

/**
 * First value of a header, or undefined.
 * @param name lower case
 */
export function headerValue(headers: readonly (readonly [string, string])[], name: string): string | undefined {
  return headers.find(([each]) => each.toLowerCase() === name)?.[1];
}
