/** Lines of JSON, read as they come: of one answer, and of lists that are given in parts. */
import { ConnectionError } from "./errors.ts";

type Bytes = ReadableStream<Uint8Array>;
type Fields = Record<string, unknown>;

export interface LinesArgs {
  path?: Fields;
  query?: Fields;
  body?: unknown;
}

/** How the list of an operation is read. */
export interface ListOfLines {
  /** The request of the first part. */
  first(args: LinesArgs): LinesArgs;
  /** The request of what comes after a record; undefined where a record does not say. */
  after?(record: Fields, args: LinesArgs): LinesArgs | undefined;
  /** Whether a record is no part of the list, and says where the next part begins. */
  isKey?(record: Fields): boolean;
  /** Whether a record comes again in the same place where the part is asked for anew. */
  isSteady?(record: Fields): boolean;
}

const queried = (args: LinesArgs, query: Fields): LinesArgs => ({ ...args, query: { ...args.query, ...query } });

/** Rows by rising id: each says where to go on. */
const byId = (id: string): ListOfLines => ({
  first: (args) => queried(args, { format: "ndjson", compressed: false }),
  after: (row, args) => queried(args, { afterId: row[id] }),
});

const KEY_OF_CAPTURES = "resumeKey";

/** A last line that is none of the list says where the next part begins. */
const CAPTURES: ListOfLines = {
  first(args) {
    const { closest, limit } = args.query ?? {};
    // the API takes no key with these, and gives all at once
    const isWhole = closest !== undefined || Number(limit) < 0;
    return queried(args, { output: "ndjson", ...(isWhole ? {} : { showResumeKey: true }) });
  },
  after: (record, args) => queried(args, { resumeKey: record[KEY_OF_CAPTURES] }),
  isKey: (record) => Object.keys(record).length === 1 && KEY_OF_CAPTURES in record,
};

/** Pages come in one order, whenever they are asked for; what is said between them does not. */
const CRAWL: ListOfLines = {
  first: (args) => queried(args, { result_mode: "stream" }),
  isSteady: ({ type }) => type === "page",
};

export const LISTS_OF_LINES = {
  exportSnapshots: byId("snapshot_id"),
  exportChanges: byId("change_id"),
  queryCdx: CAPTURES,
  spiderCrawl: CRAWL,
} satisfies Record<string, ListOfLines>;

export interface Reading {
  /** In messages. */
  name: string;
  /** Waits before a part is asked for again, after so many connections in a row that brought nothing. */
  pause(idle: number): Promise<void>;
  signal: AbortSignal | undefined;
}

/** Connections in a row that bring nothing new before a list is given up. */
const MOST_IDLE_CONNECTIONS = 5;

/**
 * Every record of a list, part by part. Where a connection breaks the list goes on after the last whole record.
 * @param ask gives the body of a part
 * @throws ConnectionError where connections bring nothing again and again
 */
export async function* readList(
  { first, after, isKey, isSteady }: ListOfLines,
  given: LinesArgs,
  ask: (args: LinesArgs) => Promise<Bytes>,
  reading: Reading,
): AsyncGenerator<Fields> {
  const isById = after !== undefined && isKey === undefined;
  let args = first(given);
  for (;;) {
    let next: LinesArgs | undefined;
    const part = () => ask((isById ? next : undefined) ?? args);
    for await (const record of readPart(part, reading, isById ? () => false : isSteady)) {
      if (isKey?.(record)) next = after?.(record, args);
      else {
        if (isById) next = after(record, args);
        yield record;
      }
    }
    if (next === undefined) return;
    args = next;
  }
}

/**
 * The records of one body, which is asked for again where it breaks.
 * @param isSteady whether a record is left out then that came before: all of them where left out
 */
export async function* readPart(
  open: () => Promise<Bytes>,
  { name, pause, signal }: Reading,
  isSteady: (record: Fields) => boolean = () => true,
): AsyncGenerator<Fields> {
  let given = 0;
  for (let idle = 0; ; ) {
    const body = await open();
    let cause: unknown;
    let seen = 0;
    idle += 1;
    try {
      for await (const line of readLines(body)) {
        const record = JSON.parse(line) as Fields;
        if (isSteady(record)) seen += 1;
        if (seen < given || (seen === given && given > 0 && isSteady(record))) continue;
        given = seen;
        idle = 0;
        yield record;
      }
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof SyntaxError) throw error;
      cause = error;
    }
    if (idle >= MOST_IDLE_CONNECTIONS) throw new ConnectionError(`The list of ${name} brings nothing`, { cause });
    await pause(idle);
  }
}

/** The lines of a body until it ends, without those that are empty. */
async function* readLines(body: Bytes): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (waiting + (value ?? "")).split("\n");
      waiting = done ? "" : (lines.pop() ?? "");
      for (const line of lines) if (line.trim() !== "") yield line;
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
