/** The lines of a file, which may be packed by gzip, one by one: no more of it is held than the longest one. */
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { ApiError } from "../../platform/errors.ts";
import { tooLarge, unreadable } from "../files/unread.ts";

export interface NumberedLine {
  /** From 1 on. */
  number: number;
  /** The line, or why it cannot be read. */
  text: string | ApiError;
}

export interface LineBounds {
  /** Of a line, in bytes. */
  line: number;
  /** Of all that is unpacked, in bytes. */
  whole: number;
  /** How many, with those that are empty. */
  lines: number;
}

const GZIP = Buffer.from("1f8b", "hex");
const LINE_FEED = 0x0a;

/**
 * Lines that hold nothing are passed over, but counted.
 * @throws ApiError 413 FILE_TOO_LARGE, 422 UNREADABLE where it is packed and broken
 */
export async function* readLines(bytes: AsyncIterable<Uint8Array>, bounds: LineBounds): AsyncGenerator<NumberedLine> {
  let [number, whole, length] = [1, 0, 0];
  let pieces: Buffer[] = [];
  const add = (piece: Buffer): void => {
    length += piece.length;
    if (length <= bounds.line) pieces.push(piece);
    else pieces = [];
  };
  const line = (): NumberedLine[] => {
    const text = length > bounds.line ? tooLong(bounds) : decoded(Buffer.concat(pieces));
    const found = { number, text };
    [number, length, pieces] = [number + 1, 0, []];
    return typeof text === "string" && text.trim() === "" ? [] : [found];
  };
  for await (const piece of unpacked(bytes)) {
    whole += piece.length;
    if (whole > bounds.whole) throw tooLarge(`The file holds over ${bounds.whole} bytes`);
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, start)) {
      add(piece.subarray(start, end));
      yield* line();
      if (number > bounds.lines) throw tooLarge(`The file has over ${bounds.lines} lines`);
      start = end + 1;
    }
    add(piece.subarray(start));
  }
  if (length > 0) yield* line();
}

const tooLong = ({ line }: LineBounds): ApiError =>
  new ApiError(400, `is over ${line} bytes long`, { code: "LINE_INVALID" });

function decoded(line: Buffer): string | ApiError {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(line);
  } catch (cause) {
    return new ApiError(400, "is not in UTF-8", { code: "LINE_INVALID", cause });
  }
}

async function* unpacked(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const pieces = bytes[Symbol.asyncIterator]();
  const first = await atLeastTwoBytes(pieces);
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first;
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
  }
  if (!first.subarray(0, GZIP.length).equals(GZIP)) {
    for await (const piece of all()) yield Buffer.from(piece);
    return;
  }
  const gunzip = createGunzip();
  const source = Readable.from(all());
  source.on("error", (error) => gunzip.destroy(error));
  try {
    for await (const piece of source.pipe(gunzip)) yield piece as Buffer;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw code.startsWith("Z_") ? unreadable("The file is no whole gzip file") : error;
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

async function atLeastTwoBytes(pieces: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let first = Buffer.alloc(0);
  while (first.length < GZIP.length) {
    const next = await pieces.next();
    if (next.done) break;
    first = Buffer.concat([first, next.value]);
  }
  return first;
}
