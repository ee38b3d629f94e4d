/** One call of a JSON API: what came back, or why nothing did, within a time. */
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

/** @throws CallFailed: `timeout`, `unreachable`, `connection lost`, `answer too large`, or that the URL guard refused the host */
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
            else resolve({ ...reply, body: Buffer.concat(chunks).toString("utf8") });
          });
        },
        onResponseError(_started, error) {
          const refused = "code" in error && error.code === "URL_BLOCKED";
          if (refused) fail("the URL guard refuses the host: name it in ACCESS__ALLOW_HOSTS if it is yours", error);
          else fail(reply === undefined ? "unreachable" : "connection lost", error);
        },
      },
    );
  });
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
