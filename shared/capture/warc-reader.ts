/** Reads one record back from a WARC file by its pointer, with one ranged request. */
import { promisify } from "node:util";
import { constants, createGunzip, gunzip, gunzipSync } from "node:zlib";
import type { ObjectStore } from "../platform/aws/objects.ts";
import { PermanentError } from "../platform/errors.ts";
import type { WarcPointer } from "./capture.ts";

export interface WarcRecordContents {
  /** As written, names in lower case. */
  warcHeaders: Map<string, string>;
  /** First line of the HTTP message; empty where the record holds none. */
  startLine: string;
  /** As written; latin1. */
  httpHeaders: [string, string][];
  /** The payload as archived: content coding kept. */
  body: Buffer;
  /** The body is not whole: fetch stopped reading, or `readWarcStart` did. */
  cut: boolean;
}

const gunzipInPool = promisify(gunzip);
/** Of one uncompressed record: a page of 100 MB and its headers. */
const MAX_RECORD_BYTES = 128 * 1024 * 1024;

/** @throws PermanentError where the file is missing or does not hold a record there */
export async function readWarcRecord(
  objects: ObjectStore,
  pointer: Pick<WarcPointer, "key" | "offset" | "length">,
): Promise<WarcRecordContents> {
  const { key, offset, length } = pointer;
  const member = await objects.get(key, { offset, length });
  if (member === undefined) throw new PermanentError(`There is no WARC file ${key}`, { code: "WARC_MISSING" });
  let record: Buffer;
  try {
    record = await gunzipInPool(member, { maxOutputLength: MAX_RECORD_BYTES });
  } catch (cause) {
    throw invalid(key, offset, "it is no gzip member of an acceptable size", cause);
  }
  return parseWarcRecord(record, `${key} at ${offset}`);
}

/**
 * As `readWarcRecord`, but no more than `maxBytes` of the record, so that a long one takes no more memory than asked
 * for.
 * @throws PermanentError as `readWarcRecord` does
 */
export async function readWarcStart(
  objects: ObjectStore,
  { key, offset, length }: Pick<WarcPointer, "key" | "offset" | "length">,
  maxBytes: number,
): Promise<WarcRecordContents> {
  const member = await objects.get(key, { offset, length: Math.min(length, maxBytes) });
  if (member === undefined) throw new PermanentError(`There is no WARC file ${key}`, { code: "WARC_MISSING" });
  const { record, cut } = await gunzipStart(member, maxBytes, member.length < length).catch((cause: unknown) => {
    throw invalid(key, offset, "it is no gzip member", cause);
  });
  return parseWarcRecord(record, `${key} at ${offset}`, cut);
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
  const [head, rest] = splitHead(record);
  const [version, ...lines] = head.toString("utf8").split("\r\n");
  if (!version?.startsWith("WARC/")) throw invalid(where, undefined, "it does not start with WARC/");
  const warcHeaders = new Map(headerPairs(lines).map(([name, value]) => [name.toLowerCase(), value]));
  const blockLength = Number(warcHeaders.get("content-length"));
  if (!Number.isSafeInteger(blockLength) || (!cut && blockLength > rest.length)) {
    throw invalid(where, undefined, "its block is shorter than its Content-Length");
  }
  const block = rest.subarray(0, blockLength);
  const isCut = block.length < blockLength || warcHeaders.has("warc-truncated");
  if (!warcHeaders.get("content-type")?.startsWith("application/http")) {
    return { warcHeaders, startLine: "", httpHeaders: [], body: block, cut: isCut };
  }
  const [httpHead, body] = splitHead(block);
  const [startLine = "", ...httpLines] = httpHead.toString("latin1").split("\r\n");
  return { warcHeaders, startLine, httpHeaders: headerPairs(httpLines), body, cut: isCut };
}

function splitHead(bytes: Buffer): [Buffer, Buffer] {
  const end = bytes.indexOf("\r\n\r\n");
  return end < 0 ? [bytes, bytes.subarray(bytes.length)] : [bytes.subarray(0, end), bytes.subarray(end + 4)];
}

function headerPairs(lines: readonly string[]): [string, string][] {
  return lines.flatMap((line) => {
    const colon = line.indexOf(":");
    return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()] satisfies [string, string]];
  });
}

function invalid(where: string, offset: number | undefined, why: string, cause?: unknown): PermanentError {
  const at = offset === undefined ? where : `${where} at ${offset}`;
  return new PermanentError(`The WARC record ${at} cannot be read: ${why}`, { code: "WARC_INVALID", cause });
}
