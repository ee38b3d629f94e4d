/**
 * The bytes of a list without its codings, piece by piece: Content-Encoding first, then gzip by its own first bytes,
 * however often it is packed. Names and media types are not asked: sites send `.xml.gz` unpacked and `.xml` packed.
 */
import type { Transform } from "node:stream";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import { endOfMemberHead, isChecked, MEMBER_TRAILER_BYTES } from "../http/content-coding.ts";

/** Ends a list before its end: what came before it counts. */
export class ListCut extends Error {
  readonly code: "TOO_LARGE" | "DECODE_FAILED" | "TRUNCATED";

  constructor(code: ListCut["code"], message: string) {
    super(message);
    this.name = "ListCut";
    this.code = code;
  }
}

type Bytes = AsyncIterable<Uint8Array>;

/** Packed in packed in packed; more is an attack. */
const MAX_LAYERS = 3;
/** Pieces of the input, so that little is unpacked which nobody wants. */
const PIECE_BYTES = 64 * 1024;

const GZIP = /^(x-)?gzip$/;
const CODINGS: Record<string, () => Transform & { bytesWritten: number }> = {
  deflate: () => zlib.createInflate({ chunkSize: PIECE_BYTES }),
  /** The data of zlib's format and of gzip. */
  raw: () => zlib.createInflateRaw({ chunkSize: PIECE_BYTES }),
  br: () => zlib.createBrotliDecompress({ chunkSize: PIECE_BYTES }),
  zstd: () => zlib.createZstdDecompress({ chunkSize: PIECE_BYTES }),
};

/**
 * @param contentEncoding value of the header
 * @param maxBytes of each layer: what expands to more is cut there
 * @throws ListCut while iterating, after all that could be unpacked
 */
export async function* unpacked(
  body: AsyncIterable<Uint8Array> | Uint8Array,
  contentEncoding: string | undefined,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes: Bytes = body instanceof Uint8Array ? pieces(body) : body;
  const codings = (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim())
    .filter((each) => GZIP.test(each) || (each !== "raw" && Object.hasOwn(CODINGS, each)))
    .reverse();
  if (codings.length > MAX_LAYERS) {
    throw new ListCut("DECODE_FAILED", `${codings.length} content codings on top of each other`);
  }
  for (const coding of codings) bytes = undone(bytes, coding, maxBytes);
  yield* withoutGzip(bytes, MAX_LAYERS, maxBytes);
}

/**
 * A header may lie, so gzip is believed by its bytes only; "deflate" is zlib's format or the bare one (RFC 9110 section
 * 8.4.1.2).
 */
async function* undone(bytes: Bytes, coding: string, maxBytes: number): AsyncGenerator<Uint8Array> {
  const [start, whole] = await peek(bytes, 2);
  if (start.length === 0) return;
  if (GZIP.test(coding)) return yield* isGzip(start) ? gunzipped(whole, maxBytes) : whole;
  yield* layer(whole, coding === "deflate" && !isZlib(start) ? "raw" : coding, maxBytes);
}

const isGzip = ([a, b]: Uint8Array): boolean => a === 0x1f && b === 0x8b;
const isZlib = ([a = 0, b = 0]: Uint8Array): boolean => (a & 0x0f) === 8 && (a * 256 + b) % 31 === 0;

async function* withoutGzip(bytes: Bytes, layers: number, maxBytes: number): AsyncGenerator<Uint8Array> {
  const [start, whole] = await peek(bytes, 2);
  if (!isGzip(start)) return yield* whole;
  if (layers === 0) throw new ListCut("DECODE_FAILED", `It is packed more than ${MAX_LAYERS} times`);
  yield* withoutGzip(gunzipped(whole, maxBytes), layers - 1, maxBytes);
}

/** Members of one list; more are an attack. */
const MAX_MEMBERS = 50_000;
/** Of the head of a member: names and comments are short. */
const MAX_HEAD_BYTES = 64 * 1024;

/**
 * Unpacks gzip member by member (RFC 1952 section 2.2), so that nothing is lost of what comes before other bytes, or
 * before a checksum that does not hold.
 */
async function* gunzipped(source: Bytes, maxBytes: number): AsyncGenerator<Uint8Array> {
  const input = rewindable(source);
  let length = 0;
  try {
    for (let member = 0; member < MAX_MEMBERS; member++) {
      const head = await input.read((bytes) => endOfMemberHead(bytes, 0), MAX_HEAD_BYTES);
      if (head === undefined) {
        if (member === 0) throw input.failure() ?? (await noMember(input));
        break;
      }
      let [size, crc] = [0, 0];
      const data = input.pieces();
      try {
        for await (const piece of layer(data.bytes, "raw", maxBytes - length, data.decodedBy)) {
          size += piece.length;
          crc = zlib.crc32(piece, crc);
          yield piece;
        }
      } catch (error) {
        throw error instanceof ListCut && error.code === "TRUNCATED" ? (input.failure() ?? error) : error;
      }
      length += size;
      data.putBack();
      const trailer = await input.read(
        (bytes) => (bytes.length < MEMBER_TRAILER_BYTES ? undefined : MEMBER_TRAILER_BYTES),
        MEMBER_TRAILER_BYTES,
      );
      if (trailer === undefined) throw input.failure() ?? endsTooEarly();
      if (!isChecked(trailer, crc, size)) {
        throw new ListCut("TRUNCATED", "The packed data are not what their checksum says");
      }
    }
    const failure = input.failure();
    if (failure !== undefined) throw failure;
  } finally {
    await input.close();
  }
}

const endsTooEarly = (): ListCut => new ListCut("TRUNCATED", "The packed data ends before its end");

/** @param input begins as gzip does */
async function noMember(input: Rewindable): Promise<ListCut> {
  const start = await input.read((bytes) => (bytes.length < GZIP_HEAD_BYTES ? undefined : GZIP_HEAD_BYTES), 1);
  return start === undefined || endOfMemberHead(Buffer.concat([start, Buffer.alloc(MAX_HEAD_BYTES)]), 0) !== undefined
    ? endsTooEarly()
    : new ListCut("DECODE_FAILED", "The gzip data cannot be unpacked: incorrect header check");
}

/** With the method and the flags. */
const GZIP_HEAD_BYTES = 4;

type Rewindable = ReturnType<typeof rewindable>;

/** Bytes that are read by somebody who says afterwards how many were wanted. */
function rewindable(source: Bytes) {
  const iterator = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  let failed: { error: unknown } | undefined;
  const next = async (): Promise<Buffer | undefined> => {
    if (held.length > 0) {
      const bytes = held;
      held = Buffer.alloc(0);
      return bytes;
    }
    if (failed !== undefined) return undefined;
    try {
      const { done, value } = await iterator.next();
      return done ? undefined : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    } catch (error) {
      failed = { error };
      return undefined;
    }
  };
  return {
    /** What ended the source before its end. */
    failure: (): unknown => failed?.error,
    close: async () => void (await iterator.return?.()),
    /** @returns the bytes whose count `lengthOf` knows; undefined, and nothing taken, where it never does */
    async read(lengthOf: (bytes: Buffer) => number | undefined, maxBytes: number): Promise<Buffer | undefined> {
      let bytes: Buffer = Buffer.alloc(0);
      for (;;) {
        const length = lengthOf(bytes);
        if (length !== undefined) {
          held = bytes.subarray(length);
          return bytes.subarray(0, length);
        }
        const more = bytes.length > maxBytes ? undefined : await next();
        if (more === undefined) {
          held = bytes;
          return undefined;
        }
        bytes = bytes.length === 0 ? more : Buffer.concat([bytes, more]);
      }
    },
    /** All that follows, for a decoder that ends where its data does; `putBack` returns what it did not take. */
    pieces() {
      let decoder: { bytesWritten: number } | undefined;
      let taken: Buffer[] = [];
      let dropped = 0;
      return {
        bytes: (async function* () {
          for (let piece = await next(); piece !== undefined; piece = await next()) {
            taken.push(piece);
            yield piece;
            for (
              let [first] = taken;
              first && dropped + first.length <= (decoder?.bytesWritten ?? 0);
              [first] = taken
            ) {
              dropped += first.length;
              taken.shift();
            }
          }
        })(),
        decodedBy(stream: { bytesWritten: number }) {
          decoder = stream;
        },
        putBack() {
          held = Buffer.concat([...taken, held]).subarray((decoder?.bytesWritten ?? 0) - dropped);
          taken = [];
        },
      };
    },
  };
}

async function* layer(
  source: Bytes,
  coding: string,
  maxBytes: number,
  decodedBy: (stream: { bytesWritten: number }) => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  const stream = (CODINGS[coding] as (typeof CODINGS)[string])();
  decodedBy(stream);
  let cut: unknown;
  // what the source throws comes out behind all that it gave
  const feeding = pipeline(
    Readable.from(
      untilCut(source, (error) => {
        cut = error;
      }),
    ),
    stream,
  ).catch(() => undefined);
  let length = 0;
  try {
    for await (const piece of stream as AsyncIterable<Uint8Array>) {
      length += piece.length;
      if (length > maxBytes) {
        yield piece.subarray(0, piece.length - (length - maxBytes));
        throw new ListCut("TOO_LARGE", `It expands to more than ${maxBytes} bytes`);
      }
      yield piece;
    }
  } catch (error) {
    if (error instanceof ListCut) throw error;
    if (cut !== undefined) throw cut;
    const { message } = error as Error;
    if (message === "unexpected end of file") throw endsTooEarly();
    throw new ListCut("DECODE_FAILED", `The ${coding} data cannot be unpacked: ${message}`);
  } finally {
    stream.destroy();
    await feeding;
  }
  if (cut !== undefined) throw cut;
}

async function* untilCut(source: Bytes, onCut: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  try {
    yield* source;
  } catch (error) {
    onCut(error);
  }
}

async function* pieces(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

/** The first bytes, fewer at the end of the data, and everything from the start again. */
async function peek(bytes: Bytes, count: number): Promise<[Uint8Array, AsyncGenerator<Uint8Array>]> {
  const iterator = bytes[Symbol.asyncIterator]();
  let start: Uint8Array = new Uint8Array(0);
  let failed: { error: unknown } | undefined;
  while (start.length < count) {
    try {
      const { done, value } = await iterator.next();
      if (done) break;
      start = start.length === 0 ? value : Buffer.concat([start, value]);
    } catch (error) {
      failed = { error };
      break;
    }
  }
  const rest = async function* (): AsyncGenerator<Uint8Array> {
    try {
      if (start.length > 0) yield start;
      if (failed) throw failed.error;
      for (;;) {
        const { done, value } = await iterator.next();
        if (done) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  };
  return [start, rest()];
}
