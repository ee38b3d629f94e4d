/**
 * Decoders of what a WARC file is made of: gzip members (RFC 1952), Zstandard frames (RFC 8878), and bytes as they are.
 * A decoder takes from the window exactly the bytes of its member, so that each record's place is known.
 */
import {
  constants,
  crc32,
  createInflateRaw,
  createZstdDecompress,
  inflateRawSync,
  zstdDecompressSync,
} from "node:zlib";
import type { WarcCoding } from "../../capture/capture.ts";
import type { ByteWindow } from "./byte-window.ts";

/** The member cannot be decoded any further. */
export class MemberFault extends Error {
  readonly code: "FILE_CUT" | "MEMBER_DAMAGED";

  constructor(code: MemberFault["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface Decoder {
  /**
   * The next decoded bytes; undefined at the end of the member.
   * @throws MemberFault after all that could be decoded
   */
  next(): Promise<Buffer | undefined>;
}

/** Up to here a member is decoded at once: a stream costs several times the work of a short one. */
const SYNC_BYTES = 256 * 1024;
const SYNC_DECODED_BYTES = 4 * 1024 * 1024;
/** Given to a stream at once: decoded it is 1032 times as much at the most. */
const STEP_BYTES = 16 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** Of the header of a gzip member, which may hold a name and a comment. */
const MAX_GZIP_HEADER = 64 * 1024;
const GZIP_TRAILER = 8;

/** How the bytes at the start of a member are coded: by what they begin with. */
export function codingOf(start: Buffer): WarcCoding {
  if (start[0] === 0x1f && start[1] === 0x8b && start[2] === 8) return "gzip";
  if (start.length >= 4 && (start.readUInt32LE(0) === ZSTD_MAGIC || isSkippable(start))) return "zstd";
  return "none";
}

export function openMember(window: ByteWindow, coding: WarcCoding): Decoder {
  if (coding === "gzip") return gzipMember(window);
  return coding === "zstd" ? zstdFrame(window) : { next: () => plainBytes(window) };
}

async function plainBytes(window: ByteWindow): Promise<Buffer | undefined> {
  const bytes = await window.fill(1);
  if (bytes.length === 0) return undefined;
  window.skip(bytes.length);
  return bytes;
}

function gzipMember(window: ByteWindow): Decoder {
  return { next: resumed(decodeGzip(window)) };
}

async function* decodeGzip(window: ByteWindow): AsyncGenerator<Buffer, undefined> {
  const header = await gzipHeaderLength(window);
  const start = await window.fill(SYNC_BYTES);
  const whole = inflateWhole(start.subarray(header, SYNC_BYTES));
  if (whole !== undefined && start.length >= header + whole.taken + GZIP_TRAILER) {
    window.skip(header + whole.taken);
    await checkGzipTrailer(window, crc32(whole.bytes), whole.bytes.length);
    yield whole.bytes;
    return undefined;
  }
  window.skip(header);
  let sum = 0;
  let length = 0;
  const pieces = inPieces(window, Number.POSITIVE_INFINITY, "gzip member");
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  for await (const chunk of decodeInSteps(inflate, window, pieces, "gzip member")) {
    sum = crc32(chunk, sum);
    length += chunk.length;
    yield chunk;
  }
  await checkGzipTrailer(window, sum, length);
  return undefined;
}

/** Decodes a deflate stream that is short and whole; undefined where it is not. */
function inflateWhole(bytes: Buffer): { bytes: Buffer; taken: number } | undefined {
  try {
    const options = {
      info: true,
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: SYNC_DECODED_BYTES,
      chunkSize: CHUNK_BYTES,
    };
    const { buffer, engine } = inflateRawSync(bytes, options) as unknown as Informed;
    // the stream has ended where it leaves bytes over
    return engine.bytesWritten < bytes.length ? { bytes: buffer, taken: engine.bytesWritten } : undefined;
  } catch {
    // the stream says what is wrong, after what can be decoded
    return undefined;
  }
}

interface Informed {
  buffer: Buffer;
  engine: { bytesWritten: number };
}

async function gzipHeaderLength(window: ByteWindow): Promise<number> {
  const bytes = await window.fill(CHUNK_BYTES);
  if (bytes.length < 10) throw cut("gzip member");
  const flags = bytes[3] as number;
  let length = 10;
  if (flags & 4) length += 2 + (bytes.length >= 12 ? bytes.readUInt16LE(10) : 0);
  for (const flag of [8, 16]) {
    if (!(flags & flag)) continue;
    const end = bytes.indexOf(0, length);
    if (end < 0 || end > MAX_GZIP_HEADER) throw damaged("gzip member", "its header has no end");
    length = end + 1;
  }
  if (flags & 2) length += 2;
  if (length > bytes.length) throw cut("gzip member");
  return length;
}

async function checkGzipTrailer(window: ByteWindow, sum: number, length: number): Promise<void> {
  const trailer = await window.fill(GZIP_TRAILER);
  if (trailer.length < GZIP_TRAILER) throw cut("gzip member");
  window.skip(GZIP_TRAILER);
  if (trailer.readUInt32LE(0) !== sum) throw damaged("gzip member", "its checksum does not match its data");
  if (trailer.readUInt32LE(4) !== length % 2 ** 32) throw damaged("gzip member", "its length does not match its data");
}

const ZSTD_MAGIC = 0xfd2fb528;
const isSkippable = (bytes: Buffer): boolean => bytes.readUInt32LE(0) >>> 4 === 0x184d2a5;

function zstdFrame(window: ByteWindow): Decoder {
  return { next: resumed(decodeZstd(window)) };
}

async function* decodeZstd(window: ByteWindow): AsyncGenerator<Buffer, undefined> {
  const start = await window.fill(SYNC_BYTES);
  if (isSkippable(start)) {
    await skipFrame(window);
    return undefined;
  }
  const frame = frameExtent(start);
  if (frame.dictionary) throw damaged("Zstandard frame", "it needs a dictionary, which is not supported");
  if (frame.length !== undefined) {
    const whole = unzstdWhole(start.subarray(0, frame.length));
    if (whole !== undefined) {
      window.skip(frame.length);
      yield whole;
      return undefined;
    }
  }
  const unzstd = createZstdDecompress({ chunkSize: CHUNK_BYTES });
  yield* decodeInSteps(unzstd, window, frameInPieces(window), "Zstandard frame");
  return undefined;
}

function unzstdWhole(frame: Buffer): Buffer | undefined {
  try {
    return zstdDecompressSync(frame, { maxOutputLength: SYNC_DECODED_BYTES, chunkSize: CHUNK_BYTES });
  } catch {
    return undefined;
  }
}

async function skipFrame(window: ByteWindow): Promise<void> {
  const header = await window.fill(8);
  if (header.length < 8) throw cut("Zstandard frame");
  let left = 8 + header.readUInt32LE(4);
  while (left > 0) {
    const { length } = await window.fill(1);
    if (length === 0) throw cut("Zstandard frame");
    window.skip(Math.min(left, length));
    left -= Math.min(left, length);
  }
}

/** Length of the header of a frame, RFC 8878 section 3.1.1.1; undefined where it is not all there. */
function frameHeader(bytes: Buffer): { length: number; checksum: number; dictionary: boolean } | undefined {
  const descriptor = bytes[4];
  if (descriptor === undefined) return undefined;
  const single = (descriptor >> 5) & 1;
  const idLength = [0, 1, 2, 4][descriptor & 3] as number;
  const sizeLength = [single, 2, 4, 8][descriptor >> 6] as number;
  const idAt = 5 + 1 - single;
  const length = idAt + idLength + sizeLength;
  if (bytes.length < length) return undefined;
  const dictionary = idLength > 0 && bytes.readUIntLE(idAt, idLength) !== 0;
  return { length, checksum: descriptor & 4, dictionary };
}

/** Bytes of a block with its header, and whether it is the last; sections 3.1.1.2 of the same. */
function blockExtent(bytes: Buffer, at: number): { length: number; last: boolean } {
  const header = bytes.readUIntLE(at, 3);
  // a block of one repeated byte has just that
  return { length: 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3), last: (header & 1) === 1 };
}

/** @returns no length where the frame is not all in these bytes */
function frameExtent(bytes: Buffer): { length?: number; dictionary: boolean } {
  const header = frameHeader(bytes);
  if (header === undefined) return { dictionary: false };
  const { dictionary } = header;
  let at = header.length;
  while (at + 3 <= bytes.length) {
    const block = blockExtent(bytes, at);
    at += block.length;
    if (!block.last) continue;
    const length = at + header.checksum;
    return length <= bytes.length ? { length, dictionary } : { dictionary };
  }
  return { dictionary };
}

/** The bytes of one frame and no more, since the decoder would go on with the next. */
async function* frameInPieces(window: ByteWindow): AsyncGenerator<Buffer> {
  const header = frameHeader(await window.fill(32));
  if (header === undefined) throw cut("Zstandard frame");
  yield* inPieces(window, header.length, "Zstandard frame");
  for (let last = false; !last; ) {
    const bytes = await window.fill(3);
    if (bytes.length < 3) throw cut("Zstandard frame");
    const block = blockExtent(bytes, 0);
    yield* inPieces(window, block.length, "Zstandard frame");
    last = block.last;
  }
  yield* inPieces(window, header.checksum, "Zstandard frame");
}

/** The next `length` bytes, each piece to be skipped before the next is asked for. */
async function* inPieces(window: ByteWindow, length: number, what: string): AsyncGenerator<Buffer> {
  for (let left = length; left > 0; ) {
    const piece = (await window.fill(1)).subarray(0, Math.min(left, STEP_BYTES));
    if (piece.length === 0) throw cut(what);
    left -= piece.length;
    yield piece;
  }
}

type Inflating = ReturnType<typeof createInflateRaw> | ReturnType<typeof createZstdDecompress>;

/** Gives a decoder its input piece by piece, and takes from the window what it has used. */
async function* decodeInSteps(
  stream: Inflating,
  window: ByteWindow,
  pieces: AsyncIterable<Buffer>,
  what: string,
): AsyncGenerator<Buffer> {
  let decoded: Buffer[] = [];
  let ended = false;
  let fault: Error | undefined;
  stream.on("data", (chunk: Buffer) => decoded.push(chunk));
  stream.on("end", () => {
    ended = true;
  });
  stream.on("error", (error: Error) => {
    fault = error;
  });
  const taken = function* (): Generator<Buffer> {
    const chunks = decoded;
    decoded = [];
    yield* chunks;
    if (fault !== undefined) throw damaged(what, fault.message, fault);
  };
  try {
    for await (const piece of pieces) {
      const before = stream.bytesWritten;
      await settled(stream, (done) => stream.write(piece, done));
      window.skip(stream.bytesWritten - before);
      yield* taken();
      if (ended) return;
    }
    await settled(stream, (done) => stream.end(done));
    yield* taken();
  } finally {
    stream.destroy();
  }
}

/** Until the stream has done what it is told to, has ended or has failed. */
async function settled(stream: Inflating, begin: (done: () => void) => unknown): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off("end", done).off("error", done);
      resolve();
    };
    stream.once("end", done).once("error", done);
    begin(done);
  });
}
function resumed(steps: AsyncGenerator<Buffer, undefined>): () => Promise<Buffer | undefined> {
  return async () => (await steps.next()).value;
}

const cut = (what: string): MemberFault => new MemberFault("FILE_CUT", `the file ends within this ${what}`);

const damaged = (what: string, why: string, cause?: unknown): MemberFault =>
  new MemberFault("MEMBER_DAMAGED", `the ${what} cannot be decompressed: ${why}`, { cause });
