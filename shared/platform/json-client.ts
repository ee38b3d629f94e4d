/**
 * JSON over HTTP, for services that the operator names: embeddings, rendering, search providers, language models. A
 * call has a time and a size, follows no redirect, and fails with a reason that holds nothing private.
 */
import type { Agent } from "undici";

export interface JsonRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  url: URL;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface JsonCall extends JsonRequest {
  /** For the whole call, in ms. */
  timeoutMs: number;
  /** Ends the call at once. */
  signal?: AbortSignal | undefined;
  /** Largest response body, decoded, in bytes. */
  maxBytes?: number;
  /** Makes the connections, e.g. where the URL guard allows; Node's own where not given. */
  client?: Agent;
}

export interface JsonReply {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

/** What kept a usable response away. */
export type CallFault = "timeout" | "stopped" | "unreachable" | "lost" | "too large" | "unreadable";

export class CallFailed extends Error {
  readonly fault: CallFault;
  /** Short, and fit to be shown. */
  readonly reason: string;

  constructor(fault: CallFault, reason: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.name = "CallFailed";
    this.fault = fault;
    this.reason = reason;
  }
}

const MAX_BYTES = 64 * 1024 * 1024;
/** What Node decodes by itself. None is asked for beyond them, yet some servers send one. */
const ENCODINGS = /^(|identity|(x-)?gzip|deflate|br)$/i;

/**
 * Resolves whatever the status is; redirects are responses like others, so that no key follows them to another address.
 * @throws CallFailed
 */
export async function callJson(call: JsonCall): Promise<JsonReply> {
  const { method, url, body, timeoutMs, signal, maxBytes = MAX_BYTES, client } = call;
  const headers = sendable({
    accept: "application/json",
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...call.headers,
  });
  const late = AbortSignal.timeout(Math.max(0, Math.ceil(timeoutMs)));
  const init: RequestInit = {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    redirect: "manual",
    signal: signal === undefined ? late : AbortSignal.any([late, signal]),
  };
  // the types of Node and of undici have each their own name for it
  if (client !== undefined) Object.assign(init, { dispatcher: client });
  let response: Response | undefined;
  try {
    response = await fetch(url.origin + url.pathname + url.search, init);
    const text = await readText(response, maxBytes);
    return { status: response.status, headers: Object.fromEntries(response.headers), body: text };
  } catch (error) {
    if (error instanceof CallFailed) throw error;
    if (signal?.aborted) throw new CallFailed("stopped", "nobody waits for the answer any more", error);
    if (late.aborted) throw new CallFailed("timeout", `timeout after ${timeoutMs} ms`);
    throw response === undefined ? unreachable(error) : brokenOff(error);
  }
}

/** The error of a header that cannot be sent names its value, and the only ones that vary are keys. */
function sendable(headers: Record<string, string>): Headers {
  try {
    return new Headers(headers);
  } catch {
    throw new CallFailed("unreachable", "the key holds characters that cannot be sent");
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  if (!ENCODINGS.test(response.headers.get("content-encoding")?.trim() ?? "")) {
    await response.body?.cancel();
    throw new CallFailed("unreadable", "answered in an unknown encoding");
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new CallFailed("too large", "answer too large");
    chunks.push(chunk);
  }
  // a leading byte order mark is dropped
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** What went wrong before a response began. */
function unreachable(error: unknown): CallFailed {
  const code = codeBehind(error);
  if (code === "URL_BLOCKED") {
    const reason = "the URL guard refuses the host: name it in ACCESS__ALLOW_HOSTS if it is yours";
    return new CallFailed("unreachable", reason, error);
  }
  return new CallFailed("unreachable", /^E[A-Z_]+$/.test(code) ? `unreachable: ${code}` : "unreachable", error);
}

function brokenOff(error: unknown): CallFailed {
  // of zlib and brotli
  if (/^(Z_|ERR_)/.test(codeBehind(error))) return new CallFailed("unreadable", "answered in a broken encoding", error);
  return new CallFailed("lost", "connection lost", error);
}

function codeBehind(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

/** @throws CallFailed where the body is no JSON, e.g. an HTML page of a proxy in between, or cut off */
export function jsonOf({ body }: JsonReply): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    const what = /^\s*</.test(body) ? "HTML" : body.trim() === "" ? "nothing" : "broken JSON";
    throw new CallFailed("unreadable", `answered with ${what} instead of JSON`, cause);
  }
}

/** The JSON of a refusal, which may as well be text; undefined where it is none. */
export function jsonIfAny(reply: JsonReply): unknown {
  try {
    return jsonOf(reply);
  } catch {
    // whoever refuses need not do so in JSON
    return undefined;
  }
}
