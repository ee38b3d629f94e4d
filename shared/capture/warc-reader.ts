/** Reads one record back from a WARC file by its pointer: as a rule with one ranged request. */
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { constants, createGunzip, createZstdDecompress, gunzip, gunzipSync } from "node:zlib";
import type { ObjectStore } from "../platform/aws/objects.ts";
import { PermanentError } from "../platform/errors.ts";
import { arcLine } from "./arc-head.ts";
import type { WarcCoding, WarcPlace, WarcPointer } from "./capture.ts";
import { withoutChunks } from "./chunked.ts";
import { fieldsOf, headEnd, headLines, holdsHttp, warcFields } from "./message-head.ts";

export interface WarcRecordContents {
  /** As written, names in lower case. */
  warcHeaders: Map<string, string>;
  /** First line of the HTTP message; empty where the record holds none. */
  startLine: string;
  /** As written; latin1. */
  httpHeaders: [string, string][];
  /** The payload as archived: content coding kept, chunked framing removed. */
  body: Buffer;
  /** The body is not whole: fetch stopped reading, or `readWarcStart` did. */
  cut: boolean;
}

/** Where a record lies, as far as reading it takes. */
export type RecordPointer = WarcPlace & Pick<WarcPointer, "key">;

const gunzipInPool = promisify(gunzip);
/** Of one uncompressed record: a page of 100 MB and its headers. */
const MAX_RECORD_BYTES = 128 * 1024 * 1024;

/** @throws PermanentError where the file is missing or does not hold a record there */
export async function readWarcRecord(
  objects: Pick<ObjectStore, "get">,
  pointer: RecordPointer,
): Promise<WarcRecordContents> {
  const { key, offset, length } = pointer;
  if (isOrdinary(pointer)) {
    const member = await readRange(objects, key, offset, length);
    const record = await gunzipInPool(member, { maxOutputLength: MAX_RECORD_BYTES }).catch((cause: unknown) => {
      throw invalid(key, offset, "it is no gzip member of an acceptable size", cause);
    });
    return parseWarcRecord(record, `${key} at ${offset}`);
  }
  const { record, cut } = await readUnusual(objects, pointer, MAX_RECORD_BYTES);
  if (cut) throw invalid(key, offset, "it is of no acceptable size");
  return parseWarcRecord(record, `${key} at ${offset}`);
}

/**
 * As `readWarcRecord`, but no more than `maxBytes` of the record, so that a long one takes no more memory than asked
 * for.
 * @throws PermanentError as `readWarcRecord` does
 */
export async function readWarcStart(
  objects: Pick<ObjectStore, "get">,
  pointer: RecordPointer,
  maxBytes: number,
): Promise<WarcRecordContents> {
  const { key, offset, length } = pointer;
  if (!isOrdinary(pointer)) {
    const { record, cut } = await readUnusual(objects, pointer, maxBytes);
    return parseWarcRecord(record, `${key} at ${offset}`, cut);
  }
  const member = await readRange(objects, key, offset, Math.min(length, maxBytes));
  const { record, cut } = await gunzipStart(member, maxBytes, member.length < length).catch((cause: unknown) => {
    throw invalid(key, offset, "it is no gzip member", cause);
  });
  return parseWarcRecord(record, `${key} at ${offset}`, cut);
}

/** A gzip member of its own, as Strandline writes them. */
const isOrdinary = ({ coding = "gzip", inner = 0 }: WarcPlace): boolean => coding === "gzip" && inner === 0;

async function readRange(
  objects: Pick<ObjectStore, "get">,
  key: string,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  const bytes = await objects.get(key, { offset, length });
  if (bytes === undefined) throw new PermanentError(`There is no WARC file ${key}`, { code: "WARC_MISSING" });
  return bytes;
}

/** Of a member that several records share. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** Reads a record that is plain, in Zstandard, or one of several in a member: that is decompressed from its start. */
async function readUnusual(
  objects: Pick<ObjectStore, "get">,
  { key, offset, length, coding = "gzip", inner = 0 }: RecordPointer,
  maxBytes: number,
): Promise<{ record: Buffer; cut: boolean }> {
  // a bucket that does not answer is no fault of the record
  let unread: { error: unknown } | undefined;
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < length; at += PIECE_BYTES) {
      yield await readRange(objects, key, offset + at, Math.min(PIECE_BYTES, length - at)).catch((error: unknown) => {
        unread = { error };
        throw error;
      });
    }
  };
  const parts: Buffer[] = [];
  let [skipped, taken, wanted] = [0, 0, Number.POSITIVE_INFINITY];
  try {
    for await (const chunk of decoded(Readable.from(pieces()), coding)) {
      const start = Math.min(inner - skipped, chunk.length);
      skipped += start;
      if (start === chunk.length) continue;
      parts.push(chunk.subarray(start));
      taken += chunk.length - start;
      if (wanted === Number.POSITIVE_INFINITY) wanted = recordLength(Buffer.concat(parts)) ?? wanted;
      if (taken >= Math.min(wanted, maxBytes)) break;
    }
  } catch (cause) {
    if (unread !== undefined) throw unread.error;
    throw invalid(key, offset, "it cannot be decompressed", cause);
  }
  return { record: Buffer.concat(parts).subarray(0, maxBytes), cut: Math.min(wanted, taken) > maxBytes };
}

function decoded(source: Readable, coding: WarcCoding): AsyncIterable<Buffer> {
  if (coding === "none") return source;
  // of a shared member, what lies behind the record is left out, and so its end
  const stream = coding === "gzip" ? createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }) : createZstdDecompress();
  source.on("error", (error) => stream.destroy(error));
  return source.pipe(stream);
}

/** Of a whole record, by its head; undefined where that is not all there. */
function recordLength(start: Buffer): number | undefined {
  const arc = arcLine(start);
  if (arc !== undefined) return arc.length + Number(arc.fields.get("content-length"));
  const [head, rest] = splitHead(start);
  if (rest.length === 0 && headEnd(start, MAX_HEAD) === undefined) return undefined;
  const length = Number(warcFields(headLines(head.toString("utf8"))).get("content-length"));
  return start.length - rest.length + (Number.isSafeInteger(length) ? length : 0);
}

/** Below this, a stream costs several times the work itself. */
const SYNC_GUNZIP_BYTES = 64 * 1024;

async function gunzipStart(member: Uint8Array, maxBytes: number, partial: boolean) {
  if (!partial && member.length <= SYNC_GUNZIP_BYTES) {
    try {
      return { record: gunzipSync(member, { maxOutputLength: maxBytes }), cut: false };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  // the end of a part is no end of a member, and no fault
  const stream = createGunzip(partial ? { finishFlush: constants.Z_SYNC_FLUSH } : {});
  const chunks: Buffer[] = [];
  let length = 0;
  stream.end(member);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) break;
    }
  } finally {
    stream.destroy();
  }
  return { record: Buffer.concat(chunks).subarray(0, maxBytes), cut: partial || length > maxBytes };
}

/**
 * @param where names the record in error messages
 * @param cut whether the record was not read to its end
 */
export function parseWarcRecord(record: Buffer, where: string, cut = false): WarcRecordContents {
  const { warcHeaders, rest } = recordHead(record, where);
  const blockLength = Number(warcHeaders.get("content-length"));
  if (!Number.isSafeInteger(blockLength) || (!cut && blockLength > rest.length)) {
    throw invalid(where, undefined, "its block is shorter than its Content-Length");
  }
  const block = rest.subarray(0, blockLength);
  const isCut = block.length < blockLength || warcHeaders.has("warc-truncated");
  if (!holdsHttp(warcHeaders, block)) {
    return { warcHeaders, startLine: "", httpHeaders: [], body: block, cut: isCut };
  }
  const message = parseHttpMessage(block);
  return { warcHeaders, ...message, cut: isCut || message.cut };
}

function recordHead(record: Buffer, where: string): { warcHeaders: Map<string, string>; rest: Buffer } {
  const arc = arcLine(record);
  if (arc !== undefined) return { warcHeaders: arc.fields, rest: record.subarray(arc.length) };
  const [head, rest] = splitHead(record);
  const [version, ...lines] = headLines(head.toString("utf8"));
  if (!version?.startsWith("WARC/")) throw invalid(where, undefined, "it does not start with WARC/");
  return { warcHeaders: warcFields(lines), rest };
}

/** The HTTP message that a block holds, without chunked framing: other archivers keep it. */
export function parseHttpMessage(
  block: Buffer,
): Pick<WarcRecordContents, "startLine" | "httpHeaders" | "body"> & { cut: boolean } {
  const { startLine, httpHeaders, isChunked, rest } = parseHttpHead(block);
  return { startLine, httpHeaders, ...(isChunked ? withoutChunks(rest) : { body: rest, cut: false }) };
}

/** @returns `rest`: the body, chunked framing kept */
export function parseHttpHead(
  block: Buffer,
): Pick<WarcRecordContents, "startLine" | "httpHeaders"> & { isChunked: boolean; rest: Buffer } {
  const [head, rest] = splitHead(block);
  const [startLine = "", ...lines] = headLines(head.toString("latin1"));
  const httpHeaders = fieldsOf(lines);
  const isChunked = httpHeaders.some(([name, value]) => /^transfer-encoding$/i.test(name) && /chunked/i.test(value));
  return { startLine, httpHeaders, isChunked, rest };
}

/** Bytes: no server sends a longer one. */
const MAX_HEAD = 1024 * 1024;

function splitHead(bytes: Buffer): [Buffer, Buffer] {
  const found = headEnd(bytes, MAX_HEAD);
  if (found === undefined) return [bytes.subarray(0, MAX_HEAD), bytes.subarray(bytes.length)];
  return [bytes.subarray(0, found.end), bytes.subarray(found.next)];
}

function invalid(where: string, offset: number | undefined, why: string, cause?: unknown): PermanentError {
  const at = offset === undefined ? where : `${where} at ${offset}`;
  return new PermanentError(`The WARC record ${at} cannot be read: ${why}`, { code: "WARC_INVALID", cause });
}
