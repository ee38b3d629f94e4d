/** One call of a JSON API: what came back, or why nothing did, within a time. */
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import type { Agent, Dispatcher } from "undici";

export interface ApiCall {
  method: "GET" | "POST";
  url: URL;
  headers: Record<string, string>;
  body?: unknown;
  /** For the whole call, in ms. */
  timeoutMs: number;
}

export interface ApiReply {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

/** No usable answer came. `reason` is short and holds nothing private. */
export class CallFailed extends Error {
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.name = "CallFailed";
    this.reason = reason;
  }
}

/** Of an answer, in bytes: a hundred results take a tenth of it. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * Redirects are answers like others: a key does not follow them to another address.
 * @throws CallFailed: `timeout`, `unreachable`, `connection lost`, `answer too large`, or that the URL guard refused the host
 */
export function callApi(client: Agent, { method, url, headers, body, timeoutMs }: ApiCall): Promise<ApiReply> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let reply: ApiReply | undefined;
    let over = false;
    let received = 0;
    const chunks: Buffer[] = [];
    const end = (settle: () => void): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      settle();
    };
    const fail = (reason: string, cause?: unknown): void => {
      end(() => reject(new CallFailed(reason, cause)));
      controller?.abort(new Error("the call is over"));
    };
    const timer = setTimeout(() => fail(`timeout after ${timeoutMs} ms`), timeoutMs);
    client.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: {
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      },
      {
        onRequestStart(started) {
          controller = started;
          if (over) started.abort(new Error("the call is over"));
        },
        onResponseStart(_started, status, answered) {
          if (status < 200) return;
          const flat = Object.entries(answered).map(([name, value]) => [name.toLowerCase(), String(value)]);
          reply = { status, headers: Object.fromEntries(flat), body: "" };
        },
        onResponseData(_started, chunk) {
          received += chunk.length;
          if (received > MAX_BODY_BYTES) return fail("answer too large");
          chunks.push(chunk);
        },
        onResponseEnd() {
          end(() => {
            if (reply === undefined) reject(new CallFailed("connection lost"));
            else
              textOf(Buffer.concat(chunks), reply.headers).then(
                (body) => resolve({ ...(reply as ApiReply), body }),
                reject,
              );
          });
        },
        onResponseError(_started, error) {
          fail(reply === undefined ? reasonOf(error) : "connection lost", error);
        },
      },
    );
  });
}

/** What went wrong before an answer began. */
function reasonOf(error: Error): string {
  const code = "code" in error ? String(error.code) : "";
  if (code === "URL_BLOCKED") return "the URL guard refuses the host: name it in ACCESS__ALLOW_HOSTS if it is yours";
  // undici's word for a header that cannot be sent; the only ones that vary are keys
  if (code === "UND_ERR_INVALID_ARG") return "the key holds characters that cannot be sent";
  return /^E[A-Z_]+$/.test(code) ? `unreachable: ${code}` : "unreachable";
}

const DECODERS: Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** No encoding is asked for, yet some servers send one. @throws CallFailed */
async function textOf(body: Buffer, headers: ApiReply["headers"]): Promise<string> {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  // a leading byte order mark is dropped
  const text = (bytes: Buffer) => new TextDecoder().decode(bytes);
  if (encoding === "identity" || encoding === "") return text(body);
  const decode = DECODERS[encoding];
  if (decode === undefined) throw new CallFailed("answered in an unknown encoding");
  try {
    return text(await decode(body, { maxOutputLength: MAX_BODY_BYTES }));
  } catch (cause) {
    const large = cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE";
    throw new CallFailed(large ? "answer too large" : "answered in a broken encoding", cause);
  }
}

/** @throws CallFailed where the body is no JSON, e.g. an HTML page of a proxy in between, or cut off */
export function jsonOf({ body }: ApiReply): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    const what = /^\s*</.test(body) ? "HTML" : body.trim() === "" ? "nothing" : "broken JSON";
    throw new CallFailed(`answered with ${what} instead of JSON`, cause);
  }
}
