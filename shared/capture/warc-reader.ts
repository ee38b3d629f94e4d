/** Reads one record back from a WARC file by its pointer, with one ranged request. */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { PermanentError } from "../platform/errors.ts";
import type { ObjectStore } from "../platform/objects.ts";
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

/** @param where names the record in error messages */
export function parseWarcRecord(record: Buffer, where: string): WarcRecordContents {
  const [head, rest] = splitHead(record);
  const [version, ...lines] = head.toString("utf8").split("\r\n");
  if (!version?.startsWith("WARC/")) throw invalid(where, undefined, "it does not start with WARC/");
  const warcHeaders = new Map(headerPairs(lines).map(([name, value]) => [name.toLowerCase(), value]));
  const blockLength = Number(warcHeaders.get("content-length"));
  if (!Number.isSafeInteger(blockLength) || blockLength > rest.length) {
    throw invalid(where, undefined, "its block is shorter than its Content-Length");
  }
  const block = rest.subarray(0, blockLength);
  if (!warcHeaders.get("content-type")?.startsWith("application/http")) {
    return { warcHeaders, startLine: "", httpHeaders: [], body: block };
  }
  const [httpHead, body] = splitHead(block);
  const [startLine = "", ...httpLines] = httpHead.toString("latin1").split("\r\n");
  return { warcHeaders, startLine, httpHeaders: headerPairs(httpLines), body };
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
