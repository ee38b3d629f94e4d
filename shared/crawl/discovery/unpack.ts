/**
 * The bytes of a list without its codings, piece by piece: Content-Encoding first, then gzip by its own first bytes,
 * however often it is packed. Names and media types are not asked: sites send `.xml.gz` unpacked and `.xml` packed.
 */
import type { Transform } from "node:stream";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import { endsInOtherBytes } from "../http/content-coding.ts";

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

const CODINGS: Record<string, () => Transform> = {
  gzip: () => zlib.createGunzip({ chunkSize: PIECE_BYTES }),
  "x-gzip": () => zlib.createGunzip({ chunkSize: PIECE_BYTES }),
  deflate: () => zlib.createInflate({ chunkSize: PIECE_BYTES }),
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
    .filter((each) => each !== "raw" && Object.hasOwn(CODINGS, each))
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
  if (coding.endsWith("gzip")) return yield* isGzip(start) ? layer(whole, "gzip", maxBytes) : whole;
  yield* layer(whole, coding === "deflate" && !isZlib(start) ? "raw" : coding, maxBytes);
}

const isGzip = ([a, b]: Uint8Array): boolean => a === 0x1f && b === 0x8b;
const isZlib = ([a = 0, b = 0]: Uint8Array): boolean => (a & 0x0f) === 8 && (a * 256 + b) % 31 === 0;

async function* withoutGzip(bytes: Bytes, layers: number, maxBytes: number): AsyncGenerator<Uint8Array> {
  const [start, whole] = await peek(bytes, 2);
  if (!isGzip(start)) return yield* whole;
  if (layers === 0) throw new ListCut("DECODE_FAILED", `It is packed more than ${MAX_LAYERS} times`);
  yield* withoutGzip(layer(whole, "gzip", maxBytes), layers - 1, maxBytes);
}

async function* layer(source: Bytes, coding: string, maxBytes: number): AsyncGenerator<Uint8Array> {
  const stream = (CODINGS[coding] as () => Transform)();
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
    // all of it came out before what stands behind its end
    if (coding.endsWith("gzip") && length > 0 && endsInOtherBytes(error)) return;
    if (message === "unexpected end of file") throw new ListCut("TRUNCATED", "The packed data ends before its end");
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
