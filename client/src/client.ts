/** The API with types: each operation, lists as iterators, jobs that are waited for, streams that go on. */
import { ConnectionError } from "./errors.ts";
import { readEvents } from "./events.ts";
import { LISTS_OF_LINES, type ListOfLines, type Reading, readList, readPart } from "./lines.ts";
import { type Endpoint, OPERATIONS } from "./operations.ts";
import { createTransport, type TransportOptions, wait } from "./transport.ts";
import type { Crawl, Operations } from "./types.ts";

export type ClientOptions = TransportOptions;
export type OperationName = keyof Operations;
export type Args<Name extends OperationName> = Operations[Name]["args"];
export type Answer<Name extends OperationName> = Operations[Name]["answer"];

export interface CallOptions {
  signal?: AbortSignal;
  /** Of an operation that starts something; one of its own for each call where left out. */
  idempotencyKey?: string;
}

/** Operations that list by cursor. */
export type ListName = {
  [Name in OperationName]: Answer<Name> extends { items: unknown[]; next_cursor: unknown } ? Name : never;
}[OperationName];
export type Item<Name extends ListName> = Answer<Name> extends { items: (infer One)[] } ? One : never;

/** Operations that give server-sent events of something that goes on whoever listens. */
export type StreamName = Exclude<
  { [Name in OperationName]: [Operations[Name]["event"]] extends [never] ? never : Name }[OperationName],
  "spiderCrawl"
>;

interface Lines {
  exportDocuments: Record<string, unknown>;
  exportSnapshots: Record<string, unknown>;
  exportChanges: Record<string, unknown>;
  queryCdx: Record<string, string>;
  spiderCrawl: Operations["spiderCrawl"]["event"];
}
/** Operations that give lines of JSON. */
export type LinesName = keyof Lines;

type Parameters<Name extends OperationName> =
  Record<string, never> extends Args<Name>
    ? [args?: Args<Name>, options?: CallOptions]
    : [args: Args<Name>, options?: CallOptions];

export interface Client {
  /**
   * Calls an operation by its `operationId`.
   * @throws ApiError for an error answer
   * @throws ConnectionError where no answer came
   */
  call<Name extends OperationName>(name: Name, ...rest: Parameters<Name>): Promise<Answer<Name>>;
  /** Every item of a list, page by page. */
  items<Name extends ListName>(name: Name, ...rest: Parameters<Name>): AsyncGenerator<Item<Name>>;
  /** The events of a stream, from where it broke wherever it breaks, until the API says that there are no more. */
  events<Name extends StreamName>(name: Name, ...rest: Parameters<Name>): AsyncGenerator<Operations[Name]["event"]>;
  /**
   * Every record of a list that comes as lines of JSON, part by part, from where it broke wherever it breaks. `limit`
   * is the size of a part.
   * @throws ApiError for an error answer
   * @throws ConnectionError where connections bring nothing again and again
   */
  lines<Name extends LinesName>(name: Name, ...rest: Parameters<Name>): AsyncGenerator<Lines[Name]>;
  /**
   * The job, once it has ended: `completed`, `failed` or `cancelled`.
   * @param options `pollMs`: between one look and the next, 1000 where left out
   */
  waitForJob(jobId: string, options?: { signal?: AbortSignal; pollMs?: number }): Promise<Crawl>;
}

interface AnyArgs {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

const POLL_MS = 1_000;
/** Connections in a row that bring nothing new before a stream is given up. */
const MOST_IDLE_CONNECTIONS = 5;
const RECONNECT_MS = 500;
const ENDED = ["completed", "failed", "cancelled"];

/**
 * @example
 * const client = createClient({ url: "http://127.0.0.1:8787", apiKey });
 * const { job_id } = await client.call("crawlSite", { body: { url: "https://example.org/" } });
 * await client.waitForJob(job_id);
 */
export function createClient(options: ClientOptions): Client {
  const send = createTransport(options);
  const { apiKey: _, ...withoutKey } = options;
  const sendElsewhere = createTransport({ ...withoutKey, url: "" });
  const delay = options.delay ?? wait;

  const ask = (name: OperationName, args: AnyArgs, call: CallOptions, more: Record<string, string> = {}) => {
    const endpoint = OPERATIONS[name];
    const key = endpoint.idempotent ? { "idempotency-key": call.idempotencyKey ?? crypto.randomUUID() } : {};
    return send({
      method: endpoint.method,
      path: addressOf(endpoint, args),
      body: args.body,
      headers: { ...key, ...more },
      repeatable: isRepeatable(endpoint),
      ...(more["accept"] === undefined ? {} : { streamed: true }),
      signal: call.signal,
    });
  };

  async function call(name: OperationName, args: AnyArgs = {}, given: CallOptions = {}): Promise<unknown> {
    const response = await ask(name, args, given);
    const text = await response.text();
    if (text === "") return undefined;
    return /^application\/json\b/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : text;
  }

  async function* items(name: OperationName, args: AnyArgs = {}, given: CallOptions = {}): AsyncGenerator<unknown> {
    for (let cursor: unknown = args.query?.["cursor"]; ; ) {
      const query = { ...args.query, ...(cursor === undefined ? {} : { cursor }) };
      const page = (await call(name, { ...args, query }, given)) as { items: unknown[]; next_cursor: unknown };
      yield* page.items;
      if (page.next_cursor === null || page.next_cursor === undefined) return;
      cursor = page.next_cursor;
    }
  }

  async function* events(name: OperationName, args: AnyArgs = {}, given: CallOptions = {}): AsyncGenerator<unknown> {
    const { method, events: hasEvents } = OPERATIONS[name];
    if (!hasEvents || method !== "GET") throw new TypeError(`${name} gives no events that could be gone on with`);
    let last: string | undefined;
    for (let idle = 0; ; ) {
      const resumed: Record<string, string> = last === undefined ? {} : { "last-event-id": last };
      const { status, body } = await ask(name, args, given, { accept: "text/event-stream", ...resumed });
      if (status === 204 || body === null) return;
      idle += 1;
      let cause: unknown;
      try {
        for await (const { id, data } of readEvents(body)) {
          // what was seen already comes again where the server cannot tell
          if (id !== undefined && id === last) continue;
          last = id ?? last;
          idle = 0;
          yield JSON.parse(data);
        }
      } catch (error) {
        given.signal?.throwIfAborted();
        if (error instanceof SyntaxError) throw error;
        cause = error;
      }
      if (idle >= MOST_IDLE_CONNECTIONS) throw new ConnectionError(`The stream of ${name} brings nothing`, { cause });
      await delay(RECONNECT_MS * idle, given.signal);
    }
  }

  const readingOf = (name: string, { signal }: CallOptions): Reading => ({
    name,
    signal,
    pause: (idle) => delay(RECONNECT_MS * idle, signal),
  });

  async function* lines(name: LinesName, args: AnyArgs = {}, given: CallOptions = {}): AsyncGenerator<unknown> {
    if (name === "exportDocuments") return yield* documents(args, given);
    const list: ListOfLines | undefined = Object.hasOwn(LISTS_OF_LINES, name) ? LISTS_OF_LINES[name] : undefined;
    if (list === undefined) throw new TypeError(`${name} gives no lines`);
    // one key for all, so that a part that is asked for again is that of the same crawl
    const keyed = { idempotencyKey: crypto.randomUUID(), ...given };
    const part = async (asked: AnyArgs) =>
      (await ask(name, asked, keyed, { accept: "application/x-ndjson" })).body ?? emptyStream();
    yield* readList(list, args, part, readingOf(name, given));
  }

  /** The parts of an export are files, which are had without a key. */
  async function* documents(args: AnyArgs, given: CallOptions): AsyncGenerator<unknown> {
    for (let { body } = args; ; ) {
      const part = (await call("exportDocuments", { ...args, body }, given)) as Answer<"exportDocuments">;
      yield* readPart(() => unpacked(part.download_url, given), readingOf("exportDocuments", given));
      if (part.next_cursor === null) return;
      body = { ...(args.body as object), cursor: part.next_cursor };
    }
  }

  async function unpacked(url: string, { signal }: CallOptions): Promise<ReadableStream<Uint8Array>> {
    const { body } = await sendElsewhere({ method: "GET", path: url, repeatable: true, streamed: true, signal });
    const gunzip = new DecompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>;
    return (body ?? emptyStream()).pipeThrough(gunzip);
  }

  async function waitForJob(
    jobId: string,
    { signal, pollMs = POLL_MS }: { signal?: AbortSignal; pollMs?: number } = {},
  ) {
    const given = signal === undefined ? {} : { signal };
    for (;;) {
      const job = (await call("getCrawl", { path: { job_id: jobId }, query: { limit: 1 } }, given)) as Crawl;
      if (ENDED.includes(job.status)) return job;
      await delay(pollMs, signal);
    }
  }

  // the types of each operation are those that the table was generated with
  return { call, items, events, lines, waitForJob } as Client;
}

const emptyStream = (): ReadableStream<Uint8Array> => new Blob([]).stream();

/** Whether it does nothing twice. */
const isRepeatable = ({ method, idempotent, reads }: Endpoint): boolean =>
  idempotent === true || reads === true || ["GET", "PUT", "DELETE"].includes(method);

function addressOf({ path }: Endpoint, { path: inPath = {}, query = {} }: AnyArgs): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = inPath[name];
    if (value === undefined || value === "") throw new TypeError(`The path ${path} needs ${name}`);
    return encodeURIComponent(String(value));
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) search.append(name, String(each));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}
