/** What a server sent for a page, read back from the archive. */
import { decodeKnown, decodeText } from "../../capture/charset.ts";
import { readWarcRecord, readWarcStart, type WarcRecordContents } from "../../capture/warc-reader.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { Queryable, Sql } from "../../platform/database/database.ts";
import { PermanentError, RetryableError } from "../../platform/errors.ts";
import { cutText } from "../../platform/text.ts";
import { decodeContent } from "../http/content-coding.ts";
import { headerValue } from "../http/exchange.ts";
import { parseMediaType, readableKindOf } from "../http/media-type.ts";
import { normalizeUrl, urlHash } from "../urls/normalize-url.ts";
import { findRecord, type ResultCapture } from "./rows.ts";

export interface ArchiveReader {
  sql: Sql;
  objects: ObjectStore;
}

export interface ArchivedContent {
  /** null where nothing was sent, or no text. */
  content: string | null;
  truncated: boolean;
}

/** Room for the headers of a record, in bytes. */
const HEAD_BYTES = 1024 * 1024;
/** The longest encoding of a character that takes one byte in UTF-8: UTF-32. */
const WIDEST = 4;
/** Revisits of revisits that are followed. */
const MAX_REVISITS = 5;

/**
 * The body as text, its content coding undone, cut to `maxBytes` of UTF-8.
 * @param captures as in `ResultRow`
 * @throws PermanentError where the archive holds no such record, or not a readable one
 */
export async function readArchivedContent(
  reader: ArchiveReader,
  captures: readonly ResultCapture[],
  maxBytes: number,
): Promise<ArchivedContent> {
  const record = await readResponseRecord(reader, captures, WIDEST * maxBytes + HEAD_BYTES);
  if (record === undefined || record.body.length === 0) return { content: null, truncated: false };
  const { essence, charset: label } = parseMediaType(headerValue(record.httpHeaders, "content-type"));
  const coding = headerValue(record.httpHeaders, "content-encoding");
  const decoded = await decodeContent(record.body, coding, WIDEST * maxBytes, record.cut);
  if ("failed" in decoded) throw new PermanentError(decoded.failed, { code: "DECODE_FAILED" });
  const kind = readableKindOf(essence, decoded.bytes);
  if (kind === undefined) return { content: null, truncated: false };
  // of a cut body no more than the start was seen, and fetch has judged the whole
  const known = captures.at(-1)?.charset ?? decodeText(decoded.bytes, label, kind).charset;
  const whole = decodeKnown(decoded.bytes, known, record.cut || decoded.truncated);
  const { text, cut } = cutText(whole, maxBytes);
  return { content: text, truncated: cut || record.cut || decoded.truncated };
}

/**
 * The record of the response itself: a revisit is followed to what it revisits.
 * @param maxBytes of the record; all of it where not given
 * @returns undefined where no answer ever came
 */
export async function readResponseRecord(
  { sql, objects }: { sql: Queryable; objects: Pick<ObjectStore, "get"> },
  captures: readonly Pick<ResultCapture, "urlHash" | "finalUrlHash" | "warc">[],
  maxBytes?: number,
): Promise<WarcRecordContents | undefined> {
  let pointer = captures.findLast(({ warc }) => warc !== null)?.warc;
  const hashes = captures.flatMap((each) => [each.urlHash, each.finalUrlHash]);
  for (let revisits = 0; pointer; revisits++) {
    const record: WarcRecordContents =
      maxBytes === undefined ? await readWarcRecord(objects, pointer) : await readWarcStart(objects, pointer, maxBytes);
    if (record.warcHeaders.get("warc-type")?.toLowerCase() !== "revisit") return record;
    const original = /^<urn:uuid:([0-9a-f-]{36})>$/i.exec(record.warcHeaders.get("warc-refers-to") ?? "")?.[1];
    const url = record.warcHeaders.get("warc-refers-to-target-uri") ?? "";
    const among = URL.canParse(url) ? [...hashes, urlHash(normalizeUrl(url))] : hashes;
    pointer = original === undefined || revisits === MAX_REVISITS ? undefined : await findRecord(sql, original, among);
    if (!pointer) {
      const message = "The page was unmodified, and the archive holds no record of the original response";
      throw new PermanentError(message, { code: "ORIGINAL_MISSING" });
    }
  }
  return undefined;
}

/** Whether the archive does not hold it (any more), in contrast to not answering. */
export function isMissingFromArchive(error: unknown): error is Error {
  if (error instanceof PermanentError || error instanceof RangeError) return true;
  if (error instanceof RetryableError && error.code === "BATCH_MISSING") return true;
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  return error instanceof Error && (status === 404 || status === 416);
}
