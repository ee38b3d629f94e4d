/**
 * Lets a strict HTTP parser read what servers send that do not keep to RFC 9112, and what browsers and other crawlers
 * read all the same: the head of each answer, and the framing of its chunks, are written anew where they need it. All
 * else passes as it came.
 *
 * What is mended in a head: lines that end in a bare LF; folded lines (section 5.2), which become one; interim answers
 * that nobody asked for (RFC 9110 section 15.2), which are dropped; a length that is given more than once, or beside
 * chunks (section 6.3), or that is no number; transfer codings that are none; space before a colon (section 5.1);
 * control characters in values, which become spaces (RFC 9110 section 5.5); lines that are no header, which are
 * dropped; a status line with another version or more spaces. A length that was not taken is kept under the name that
 * archivers use for it.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";

/** An answer that says two different things of where it ends: nobody can tell which holds. */
class AmbiguousLength extends Error {
  override readonly name = "AmbiguousLength";
}

/** An answer that never begins: there is always one more interim answer, or empty line. */
class EndlessPrelude extends Error {
  override readonly name = "EndlessPrelude";
}

/** Interim answers, and bytes of them and of empty lines, in front of an answer. */
const MOST_INTERIM_ANSWERS = 20;
const MAX_PRELUDE_BYTES = 64 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const CRLF = Buffer.from("\r\n");
const NOTHING = Buffer.alloc(0);

const STATUS_LINE = /^(?:HTTP\/(\d+)(?:\.(\d+))?|ICY)[ \t]+([1-9]\d\d)(?:[ \t]+(.*))?$/i;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What no header value may hold. */
const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/g;
/** A head that needs no mending, unless its framing does. */
const STRICT_HEAD =
  /^HTTP\/1\.[01] [2-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n$/;
const STRICT_CHUNK_SIZE = /^[0-9a-f]{1,8}(?:;[\x20-\x7e]*)?\r\n$/i;

/**
 * The header of a mended head that holds the status line as it came, in hex of latin1, where the parser would not give
 * it back: it knows no version, and reads the reason as UTF-8. Of this process alone, so that no server can send it.
 */
export const STATUS_LINE_HEADER = `x-status-line-${randomBytes(12).toString("hex")}`;
/** A status line that the parser gives back as it came. */
const PLAIN_STATUS_LINE = /^HTTP\/1\.1 [2-9]\d\d [\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const STRICT_STATUS_LINE = /^HTTP\/1\.[01] [2-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/** Under this prefix archivers keep headers that do not hold of the body as it is kept. */
const ORIGINAL = "X-Archive-Orig-";

/** @param maxHeadBytes larger heads are not mended: they pass as they come, for the client to refuse */
export function createAnswerMender(maxHeadBytes: number): AnswerMender {
  let phase: "idle" | "head" | "body" | "chunks" = "idle";
  let held: Buffer = NOTHING;
  let chunks = createChunkMender();
  let interim = 0;
  let preludeBytes = 0;

  const passOver = (bytes: number): void => {
    held = held.subarray(bytes);
    preludeBytes += bytes;
    if (preludeBytes <= MAX_PRELUDE_BYTES && interim <= MOST_INTERIM_ANSWERS) return;
    const bound = `${MOST_INTERIM_ANSWERS} interim answers or ${MAX_PRELUDE_BYTES} bytes of them and of empty lines`;
    throw new EndlessPrelude(`More than ${bound} came, and no response yet`);
  };

  const takeHead = (bytes: Buffer): Buffer[] => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    const out: Buffer[] = [];
    while (phase === "head") {
      passOver(afterEmptyLines(held));
      const end = endOfHead(held);
      if (end < 0) {
        if (held.length <= maxHeadBytes && mayBeHead(held)) return out;
        phase = "body";
        break;
      }
      const head = mendHead(held.subarray(0, end));
      if (head === "interim") {
        interim += 1;
        passOver(end);
        continue;
      }
      held = held.subarray(end);
      out.push(head.bytes);
      phase = head.chunked ? "chunks" : "body";
      chunks = createChunkMender();
    }
    const rest = held;
    held = NOTHING;
    if (rest.length > 0) out.push(...(phase === "chunks" ? chunks(rest) : [rest]));
    return out;
  };

  return {
    expectHead() {
      if (phase !== "head") [phase, held, interim, preludeBytes] = ["head", NOTHING, 0, 0];
    },
    feed(bytes) {
      if (phase === "head") return joined(takeHead(bytes));
      return phase === "chunks" ? joined(chunks(bytes)) : bytes;
    },
  };
}

export interface AnswerMender {
  /** A request was written: the next byte is the first of an answer. */
  expectHead(): void;
  /**
   * @returns what the parser is to see; empty where more is needed first
   * @throws AmbiguousLength, EndlessPrelude
   */
  feed(bytes: Buffer): Buffer;
}

/**
 * Puts the mender between a connection and the client that reads it by `read`, and that has one request under way at a
 * time: whatever it writes is a request, which is neither HEAD nor CONNECT.
 */
export function readLeniently<S extends Socket>(socket: S, maxHeadBytes: number): S {
  const mender = createAnswerMender(maxHeadBytes);
  const original = { read: socket.read, unshift: socket.unshift, write: socket.write };
  /** Bytes that the client has put back, which are mended already. */
  let putBack = 0;
  return Object.assign(socket, {
    read(size?: number): Buffer | null {
      // so Node asks for more to be there
      if (size === 0) return Reflect.apply(original.read, socket, [0]) as null;
      for (;;) {
        const bytes = Reflect.apply(original.read, socket, []) as Buffer | null;
        if (bytes === null) return null;
        const mended = bytes.subarray(0, putBack);
        const rest = bytes.subarray(putBack);
        putBack = 0;
        try {
          const all = rest.length === 0 ? mended : joined([mended, mender.feed(rest)]);
          if (all.length > 0) return all;
        } catch (error) {
          socket.destroy(error as Error);
          return null;
        }
      }
    },
    unshift(bytes: Buffer): void {
      putBack += bytes.length;
      Reflect.apply(original.unshift, socket, [bytes]);
    },
    write(...args: unknown[]): boolean {
      mender.expectHead();
      return Reflect.apply(original.write, socket, args) as boolean;
    },
  });
}

function joined(pieces: readonly Buffer[]): Buffer {
  const some = pieces.filter(({ length }) => length > 0);
  return some.length === 1 ? (some[0] as Buffer) : Buffer.concat(some);
}

/** A line end is a LF, however many CR stand before it. */
function afterCarriageReturns(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === CR) at += 1;
  return at;
}

function afterEmptyLines(bytes: Buffer): number {
  let at = 0;
  for (;;) {
    const end = afterCarriageReturns(bytes, at);
    if (bytes[end] !== LF) return at;
    at = end + 1;
  }
}

/** @returns where the head ends, its empty line included; -1 where it has not yet */
function endOfHead(bytes: Buffer): number {
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    const next = afterCarriageReturns(bytes, at + 1);
    if (bytes[next] === LF) return next + 1;
  }
  return -1;
}

/** Whether the bytes begin as a head does, or as an empty line before it, as far as they go. */
function mayBeHead(bytes: Buffer): boolean {
  if (afterCarriageReturns(bytes, 0) === bytes.length) return true;
  const begin = bytes.toString("latin1", 0, 5).toUpperCase();
  return "HTTP/".startsWith(begin) || "ICY ".startsWith(begin.slice(0, 4));
}

/** @returns the head as a strict parser takes it, or `interim` where it is not that of the answer */
function mendHead(bytes: Buffer): { bytes: Buffer; chunked: boolean } | "interim" {
  const text = bytes.toString("latin1");
  const lines = text.split("\n").map((line) => line.replace(/\r+$/, ""));
  const [, major, minor, status, reason = ""] = STATUS_LINE.exec(lines[0] ?? "") ?? [];
  // nothing that anybody could mend
  if (status === undefined) return { bytes, chunked: false };
  if (status.startsWith("1") && status !== "101") return "interim";
  const headers = headersOf(lines.slice(1));
  const { kept, chunked } = framed(headers);
  const sent = lines[0] ?? "";
  const plain = PLAIN_STATUS_LINE.test(sent);
  const strict = kept === headers && STRICT_HEAD.test(text);
  if (plain && strict) return { bytes, chunked };
  const version = major === "1" && minor === "0" ? "1.0" : "1.1";
  const line = STRICT_STATUS_LINE.test(sent) ? sent : `HTTP/${version} ${status} ${reason.replace(NOT_IN_VALUES, " ")}`;
  const note = plain ? "" : `${STATUS_LINE_HEADER}: ${Buffer.from(line, "latin1").toString("hex")}\r\n`;
  const fields = strict
    ? text.slice(text.indexOf("\n") + 1)
    : `${kept.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  return { bytes: Buffer.from(`${line}\r\n${note}${fields}`, "latin1"), chunked };
}

type Header = [name: string, value: string];

function headersOf(lines: readonly string[]): Header[] {
  const headers: Header[] = [];
  for (const line of lines) {
    const last = headers.at(-1);
    if (/^[ \t]/.test(line)) {
      // section 2.2: space before the first header says nothing
      if (last !== undefined) last[1] = `${last[1]} ${clean(line)}`.trim();
      continue;
    }
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trimEnd();
    if (TOKEN.test(name)) headers.push([name, clean(line.slice(colon + 1))]);
  }
  return headers;
}

const clean = (value: string): string => value.replace(NOT_IN_VALUES, " ").replace(/^[ \t]+|[ \t]+$/g, "");

/**
 * Leaves one word on where the body ends (section 6.3).
 * @returns the very headers where they say no more than that
 * @throws AmbiguousLength
 */
function framed(headers: Header[]): { kept: Header[]; chunked: boolean } {
  const values = (name: string): string[] =>
    headers
      .filter((header) => header[0].toLowerCase() === name)
      .flatMap(([, value]) => value.split(","))
      .map((value) => value.trim());
  const [codings, lengths] = [values("transfer-encoding"), values("content-length")];
  const chunked = codings.at(-1)?.toLowerCase() === "chunked";
  const length = chunked ? undefined : lengthOf(lengths);
  if (codings.length === 0 || chunked) {
    if (lengths.length === 0 || (lengths.length === 1 && lengths[0] === length)) return { kept: headers, chunked };
  }
  let given = false;
  const kept = headers.map(([name, value]): Header => {
    const lower = name.toLowerCase();
    if (lower === "transfer-encoding" && !chunked) return [ORIGINAL + name, value];
    if (lower !== "content-length") return [name, value];
    if (length === undefined || given) return [ORIGINAL + name, value];
    given = true;
    return [name, length];
  });
  return { kept, chunked };
}

/** @returns undefined where none is given that is a number: then the end of the connection is that of the body */
function lengthOf(values: readonly string[]): string | undefined {
  const numbers = new Set(values.filter((value) => /^\d{1,15}$/.test(value)).map((value) => String(Number(value))));
  if (numbers.size > 1) throw new AmbiguousLength(`The response has two lengths: ${[...numbers].join(" and ")} bytes`);
  const [number] = numbers;
  return values.find((value) => value === number) ?? number;
}

/**
 * Mends the framing of chunks: sizes with space behind them, lines that end in a bare LF, no line end behind a chunk.
 * What it cannot read passes as it came, and so does all that follows.
 */
function createChunkMender(): (bytes: Buffer) => Buffer[] {
  let at: "size" | "data" | "data-end" | "trailers" | "lost" = "size";
  let left = 0;
  let line = "";
  return (bytes) => {
    const out: Buffer[] = [];
    let from = 0;
    const takeLine = (): string | undefined => {
      const end = bytes.indexOf(LF, from);
      line += bytes.toString("latin1", from, end < 0 ? bytes.length : end + 1);
      from = end < 0 ? bytes.length : end + 1;
      if (end < 0 && line.length < LONGEST_LINE) return undefined;
      const taken = line;
      line = "";
      return taken;
    };
    while (from < bytes.length) {
      if (at === "data") {
        const data = bytes.subarray(from, from + left);
        out.push(data);
        from += data.length;
        left -= data.length;
        if (left === 0) at = "data-end";
      } else if (at === "data-end") {
        // the line end is ours: whatever stands here instead of one is the next size
        if (bytes[from] === CR) from += 1;
        else {
          if (bytes[from] === LF) from += 1;
          out.push(CRLF);
          at = "size";
        }
      } else if (at === "lost") {
        out.push(bytes.subarray(from));
        from = bytes.length;
      } else {
        const taken = takeLine();
        if (taken === undefined) break;
        if (at === "trailers") {
          out.push(Buffer.from(STRICT_TRAILER.test(taken) ? taken : isEmptyLine(taken) ? "\r\n" : "", "latin1"));
          if (isEmptyLine(taken)) at = "lost";
          continue;
        }
        const size = /^[ \t]*([0-9a-f]{1,8})[ \t]*(?:;.*)?\r*\n$/i.exec(taken)?.[1];
        left = Number.parseInt(size ?? "", 16);
        out.push(Buffer.from(size === undefined || STRICT_CHUNK_SIZE.test(taken) ? taken : `${size}\r\n`, "latin1"));
        at = size === undefined ? "lost" : left === 0 ? "trailers" : "data";
      }
    }
    return out;
  };
}

const LONGEST_LINE = 16 * 1024;
const STRICT_TRAILER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n$/;
const isEmptyLine = (line: string): boolean => /^\r*\n$/.test(line);
