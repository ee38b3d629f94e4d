/**
 * One provider asked for one query: pages until there is enough, retries where it is busy, all within the run's
 * deadline.
 */
import type { Agent } from "undici";
import { z } from "zod";
import type { Clock } from "../platform/clock.ts";
import { CallFailed, callJson, type JsonReply, type JsonRequest, jsonIfAny, jsonOf } from "../platform/json-client.ts";
import { retryAfterMs } from "../platform/retry-after.ts";
import type { ExpandedQuery } from "./expansion.ts";
import type { ProviderAccess, ProviderDialect } from "./providers/dialect.ts";
import { QueryTooLong } from "./query-text.ts";

export interface ProviderRun {
  provider: string;
  /** What it was asked; null where the query could not be written for it. */
  queryUsed: string | null;
  /** As returned, best first, `want` at the most; what came before a fault counts. */
  urls: string[];
  latencyMs: number;
  /** Requests, tries again included. */
  requests: number;
  /** Results that are left out: longer than any URL that is fetched, or text that no database stores. */
  skipped: number;
  /** Why it gave nothing, or no more: `timeout`, `403`, `quota`; null where all went well. */
  error: string | null;
}

/** Of a provider that could not be asked. */
export const failedRun = (provider: string, error: string): ProviderRun => ({
  provider,
  queryUsed: null,
  urls: [],
  latencyMs: 0,
  requests: 0,
  skipped: 0,
  error,
});

export interface RunOptions {
  client: Agent;
  clock: Clock;
  /** 0 to 1. */
  random(): number;
  /** Results wanted of each provider. */
  want: number;
  /** Epoch ms at which the run ends. */
  deadline: number;
  /** Longest time for one request, in ms. */
  timeoutMs: number;
}

/** Too short for an answer, in ms: no request is begun. */
const LEAST_MS = 50;
/** Before the second try, in ms; twice as long before each further one. */
const FIRST_BACKOFF_MS = 150;
/** Requests for one page: each is paid for. */
const MAX_TRIES = 4;
/** Of an answer: a hundred results take a tenth of it. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Longest URL that a crawl takes, in characters. */
const MAX_URL_LENGTH = 2048;

/** Never rejects for what a provider does. */
export async function runProvider(
  dialect: ProviderDialect,
  access: ProviderAccess,
  query: ExpandedQuery,
  options: RunOptions,
): Promise<ProviderRun> {
  const { clock } = options;
  const started = clock.now();
  const run: ProviderRun = { ...failedRun(dialect.name, ""), error: null };
  const seen = new Set<string>();
  try {
    const compiled = dialect.compile(query, started);
    run.queryUsed = compiled.queryUsed;
    const want = Math.min(options.want, dialect.mostResults);
    // a page that gives a few less than it may is not made up for by another request
    for (let offset = 0; offset < want; offset += dialect.pageSize) {
      const count = Math.min(dialect.pageSize, want - offset);
      const reply = await askWithRetries(
        () => compiled.call(access, offset, count),
        dialect,
        options,
        () => {
          run.requests += 1;
        },
      );
      const page = dialect.read(jsonOf(reply));
      // past its end a provider may return its last page again
      if (page.urls.every((url) => seen.has(url))) break;
      for (const url of page.urls) {
        seen.add(url);
        if (!isStorable(url)) run.skipped += 1;
        else if (run.urls.length < want) run.urls.push(url);
      }
      if (!page.more) break;
    }
  } catch (error) {
    if (error instanceof CallFailed) run.error = error.reason;
    else if (error instanceof QueryTooLong) run.error = error.message;
    else if (error instanceof z.ZodError) run.error = "answered in an unknown shape";
    else throw error;
  }
  run.latencyMs = Math.max(0, clock.now() - started);
  return run;
}

const timedOut = (cause?: unknown) => new CallFailed("timeout", "timeout", cause);

/**
 * @returns an answer with status 200
 * @throws CallFailed
 */
async function askWithRetries(
  call: () => JsonRequest,
  dialect: ProviderDialect,
  { client, clock, random, deadline, timeoutMs }: RunOptions,
  onRequest: () => void,
): Promise<JsonReply> {
  for (let attempt = 0; ; attempt += 1) {
    const left = deadline - clock.now();
    if (left < LEAST_MS) throw timedOut();
    onRequest();
    const limits = { client, timeoutMs: Math.min(left, timeoutMs), maxBytes: MAX_ANSWER_BYTES };
    const reply = await callJson({ ...call(), ...limits }).catch((error: unknown) => {
      throw error instanceof CallFailed && error.fault === "timeout" ? timedOut(error) : error;
    });
    if (reply.status === 200) return reply;
    const said = described(dialect, reply);
    if ((reply.status !== 429 && reply.status < 500) || attempt + 1 === MAX_TRIES)
      throw new CallFailed("unreachable", said);
    const backoff = FIRST_BACKOFF_MS * 2 ** attempt * (0.5 + random() / 2);
    const wait = Math.max(backoff, retryAfterMs(reply.headers["retry-after"], clock.now()) ?? 0);
    // what could not be answered any more is not asked
    if (clock.now() + wait + LEAST_MS > deadline) throw new CallFailed("unreachable", said);
    await clock.sleep(wait);
  }
}

/** `quota`, `403`, `400 auth`: the status, unless the word says it all. */
function described({ refusal }: ProviderDialect, reply: JsonReply): string {
  const { status } = reply;
  if (status >= 300 && status < 400) return `${status} redirect: name the final address as endpoint`;
  const word = refusal?.(status, jsonIfAny(reply));
  if (word === "quota") return word;
  const saysItself = word === undefined || (word === "auth" && (status === 401 || status === 403));
  return saysItself ? String(status) : `${status} ${word}`;
}

const isStorable = (url: string): boolean => url.length <= MAX_URL_LENGTH && url.isWellFormed() && !url.includes("\0");
