/** Undoes the codings of HTTP, with a bound on what comes out. */
import { promisify } from "node:util";
import * as zlib from "node:zlib";

export type DecodedContent =
  /**
   * `truncated`: more would have come out than the bound allows, or the input ends before its end, or does not pass
   * its own check.
   */
  { bytes: Buffer; truncated: boolean } | { failed: string };

/** Below this, decoding at once costs less than handing over to the thread pool. */
const SYNC_BYTES = 256 * 1024;
/** Codings on top of each other; more are an attack. */
const MAX_CODINGS = 3;

type Coding = "gzip" | "deflate" | "br" | "zstd";

/**
 * The transfer codings of a message beside `chunked`, as `decodeContent` takes them; undefined where there are none.
 * RFC 9112 section 7 knows these; `compress` is one that nobody sends.
 */
export function transferCodings(headers: readonly [string, string][]): string | undefined {
  const codings = headers
    .filter(([name]) => TRANSFER_ENCODING.test(name))
    .flatMap(([, value]) => value.split(","))
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => /^(x-)?gzip$|^deflate$/.test(coding));
  return codings.length === 0 ? undefined : codings.join(",");
}

/** Also where the framing was mended: `lenient-answers.ts` keeps what it did not take. */
const TRANSFER_ENCODING = /^(x-archive-orig-)?transfer-encoding$/i;

/**
 * A coding that nobody knows, and gzip or zstd that the bytes show to be a lie, are skipped: the body is taken as it
 * is. What stands behind the end of the coded data is left out; data that ends before its end is decoded as far as it
 * goes.
 * @param contentEncoding value of the header, several codings separated by commas in the order they were applied
 * @param cut the body ends before its end: what can be decoded of it is
 */
export async function decodeContent(
  body: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
  cut: boolean,
): Promise<DecodedContent> {
  const codings = (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map(codingOf)
    .filter((each) => each !== undefined);
  if (codings.length > MAX_CODINGS) return { failed: `${codings.length} content codings on top of each other` };
  let bytes = body;
  let truncated = false;
  for (const coding of codings.reverse()) {
    if (bytes.length === 0) break;
    if (!looksLike(coding, bytes)) continue;
    const decoded = await decodeOne(bytes, coding, maxBytes, cut || truncated);
    if ("failed" in decoded) return decoded;
    bytes = decoded.bytes;
    truncated ||= decoded.truncated;
  }
  return bytes.length > maxBytes ? { bytes: bytes.subarray(0, maxBytes), truncated: true } : { bytes, truncated };
}

function codingOf(token: string): Coding | undefined {
  switch (token.trim()) {
    case "gzip":
    case "x-gzip":
      return "gzip";
    case "deflate":
    case "br":
    case "zstd":
      return token.trim() as Coding;
    default:
      return undefined;
  }
}

/** gzip and zstd say what they are in their first bytes, as many of them as there are. */
function looksLike(coding: Coding, bytes: Buffer): boolean {
  if (coding === "gzip") return beginsAs(bytes, GZIP_START);
  if (coding === "zstd") return beginsAs(bytes, ZSTD_START) || isSkippableFrame(bytes);
  return true;
}

const GZIP_START = [0x1f, 0x8b];
const ZSTD_START = [0x28, 0xb5, 0x2f, 0xfd];
const beginsAs = (bytes: Buffer, start: readonly number[]): boolean =>
  start.every((byte, at) => at >= bytes.length || bytes[at] === byte);

function isSkippableFrame(bytes: Buffer): boolean {
  const [first = 0] = bytes;
  return first >>> 4 === 5 && beginsAs(bytes, [first, 0x2a, 0x4d, 0x18]);
}

const SYNC = {
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
  raw: zlib.inflateRawSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
};
const POOLED = {
  gzip: promisify(zlib.gunzip),
  deflate: promisify(zlib.inflate),
  raw: promisify(zlib.inflateRaw),
  br: promisify(zlib.brotliDecompress),
  zstd: promisify(zlib.zstdDecompress),
};
const STREAM = {
  gzip: zlib.createGunzip,
  deflate: zlib.createInflate,
  raw: zlib.createInflateRaw,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
};

/** What makes a decoder give all that it has where the input ends before its end. */
const FLUSH = {
  gzip: zlib.constants.Z_SYNC_FLUSH,
  deflate: zlib.constants.Z_SYNC_FLUSH,
  raw: zlib.constants.Z_SYNC_FLUSH,
  br: zlib.constants.BROTLI_OPERATION_FLUSH,
  zstd: zlib.constants.ZSTD_e_flush,
};

async function decodeOne(bytes: Buffer, coding: Coding, maxBytes: number, cut: boolean): Promise<DecodedContent> {
  // deflate means zlib's format, but some servers send the bare one (RFC 9110 section 8.4.1.2)
  const format = coding === "deflate" && !isZlib(bytes) ? "raw" : coding;
  if (!cut) {
    try {
      const options = { maxOutputLength: maxBytes };
      const whole = bytes.length <= SYNC_BYTES ? SYNC[format](bytes, options) : await POOLED[format](bytes, options);
      return { bytes: whole, truncated: false };
    } catch (error) {
      const unchecked = failsItsCheck(error);
      if (format === "gzip" && (unchecked || endsInOtherBytes(error))) {
        const known = await decodeMembers(bytes, maxBytes);
        if (known !== undefined) return known;
      }
      if (format === "deflate" && unchecked) {
        return await decodePrefix(bytes.subarray(ZLIB_HEAD_BYTES), "raw", maxBytes);
      }
      if (!tooLarge(error) && !endsTooEarly(error)) return failed(coding, error);
    }
  }
  return await decodePrefix(bytes, format, maxBytes);
}

const failed = (coding: string, error: unknown): { failed: string } => ({
  failed: `the ${coding} content cannot be decoded: ${(error as Error).message}`,
});

const isZlib = (bytes: Buffer): boolean =>
  bytes.length >= 2 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;

const tooLarge = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";

const endsTooEarly = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "Z_BUF_ERROR";

const ZLIB_HEAD_BYTES = 2;

/** Whether all was decoded, and is not what the checksum or the length behind it says. */
const failsItsCheck = (error: unknown): boolean =>
  error instanceof Error && /^incorrect (data|length) check/.test(error.message);

/**
 * Whether a decoder of gzip has met something else where a member begins: behind the last one, since `looksLike` has
 * seen the first.
 */
const endsInOtherBytes = (error: unknown): boolean =>
  error instanceof Error &&
  /^(incorrect header check|unknown compression method|unknown header flags)/.test(error.message);

/**
 * Decodes gzip member by member (RFC 1952 section 2.2), up to the first bytes that are none, or one that does not pass
 * its own check: as browsers do, it is taken as it is.
 * @returns undefined where not even the first is one
 */
async function decodeMembers(bytes: Buffer, maxBytes: number): Promise<DecodedContent | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  let truncated = false;
  for (let at = 0; at < bytes.length && !truncated; ) {
    const start = endOfMemberHead(bytes, at);
    if (start === undefined) break;
    const data = bytes.subarray(start);
    try {
      const { buffer, engine } = await inflateMember(data, { maxOutputLength: maxBytes - length, info: true });
      const end = start + engine.bytesWritten;
      truncated = !isChecked(bytes.subarray(end), zlib.crc32(buffer), buffer.length);
      parts.push(buffer);
      length += buffer.length;
      at = end + MEMBER_TRAILER_BYTES;
    } catch (error) {
      truncated = true;
      if (!tooLarge(error)) break;
      const last = await decodePrefix(data, "raw", maxBytes - length);
      return "failed" in last ? last : { bytes: Buffer.concat([...parts, last.bytes]), truncated: true };
    }
  }
  return parts.length === 0 ? undefined : { bytes: Buffer.concat(parts), truncated };
}

/** @param trailer what stands behind a member's data */
export const isChecked = (trailer: Buffer, crc: number, length: number): boolean =>
  trailer.length >= MEMBER_TRAILER_BYTES &&
  trailer.readUInt32LE(0) === crc &&
  trailer.readUInt32LE(4) === length % 2 ** 32;

/** With `info` it tells how much of its input it took. */
const inflateMember = promisify(zlib.inflateRaw) as unknown as (
  data: Buffer,
  options: zlib.ZlibOptions,
) => Promise<{ buffer: Buffer; engine: { bytesWritten: number } }>;

/** Checksum and length. */
export const MEMBER_TRAILER_BYTES = 8;
const [HEAD_CHECKSUM, EXTRA, NAME, COMMENT, RESERVED] = [2, 4, 8, 16, 0xe0];

/** @returns where the data of the member at `at` begin; undefined where there is none, or its head is not whole */
export function endOfMemberHead(bytes: Buffer, at: number): number | undefined {
  if (bytes[at] !== 0x1f || bytes[at + 1] !== 0x8b || bytes[at + 2] !== 8) return undefined;
  const flags = bytes[at + 3] ?? 0;
  if (flags & RESERVED) return undefined;
  let end = at + 10;
  if (flags & EXTRA) {
    if (end + 2 > bytes.length) return undefined;
    end += 2 + bytes.readUInt16LE(end);
  }
  for (const text of [NAME, COMMENT]) {
    if ((flags & text) === 0) continue;
    const zero = bytes.indexOf(0, end);
    if (zero < 0) return undefined;
    end = zero + 1;
  }
  const data = flags & HEAD_CHECKSUM ? end + 2 : end;
  return data < bytes.length ? data : undefined;
}

/** As much as comes out before the bound, the end of a cut input, or the first fault. */
async function decodePrefix(bytes: Buffer, format: keyof typeof STREAM, maxBytes: number): Promise<DecodedContent> {
  const stream = STREAM[format]({ finishFlush: FLUSH[format] });
  const chunks: Buffer[] = [];
  let length = 0;
  stream.end(bytes);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= maxBytes) break;
    }
  } catch (error) {
    if (length === 0) return failed(format, error);
  } finally {
    stream.destroy();
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), truncated: true };
}
