/** Copies the records of a WARC object that an export is to hold, byte for byte, and indexes them on the way. */
import { holdsHttp } from "../../capture/message-head.ts";
import { parseHttpMessage } from "../../capture/warc-reader.ts";
import { surtOf } from "../../crawl/urls/surt.ts";
import type { Uploads } from "../../platform/aws/uploads.ts";
import { PermanentError } from "../../platform/errors.ts";
import { timestampOf } from "../cdx/cdx-line.ts";
import type { IsWithheld } from "../exclusions/exclusions.ts";
import { isZip, readWaczPackage } from "../wacz-file/read-package.ts";
import { bytesAt, dataOffset, type RangeReader } from "../wacz-file/zip-directory.ts";
import { ByteWindow } from "../warc-file/byte-window.ts";
import { OtherMethods, REQUEST_BYTES } from "../warc-file/other-methods.ts";
import { readWarcFile, type WarcRecord } from "../warc-file/read-warc-file.ts";
import type { RecordHead } from "../warc-file/record-head.ts";

export interface SourceFile {
  key: string;
  etag: string;
  /** The part of the object that is the file, in bytes: `to` is behind it. */
  from: number;
  to: number;
  /** Offsets of the records that belong to the export; null: all of the file do. */
  wanted: ReadonlySet<number> | null;
  /** Of those records, where they are known: each of a few is then read by itself. */
  lengths?: ReadonlyMap<number, number>;
}

interface Range {
  offset: number;
  length: number;
}

export interface RecordPlan {
  ranges: Range[];
  bytes: number;
  /** Lines of CDXJ, in the order of the records. */
  lines: string[];
}

/** What of a block is read for the index: the head of an HTTP message. */
const KEPT_BYTES = 64 * 1024;
/** Requests that cost less than reading a file through. */
const FEW_RECORDS = 200;
const INDEXED = new Set(["response", "revisit", "resource"]);
/** The headers that a crawl sends may hold its credentials. */
const LEFT_OUT = new Set(["request"]);

/**
 * Reads a file through, and says which of its records are copied.
 * @param name of the file in the export, as its index has it
 * @param isWithheld of records that readers of the archive are not shown: they are left out
 * @throws PermanentError where its records cannot be copied as they are
 */
export async function planRecords(
  uploads: Pick<Uploads, "stream">,
  file: SourceFile,
  name: string,
  isWithheld: IsWithheld,
): Promise<RecordPlan> {
  const plan: RecordPlan = { ranges: [], bytes: 0, lines: [] };
  const others = new OtherMethods();
  let waiting: WarcRecord | undefined;
  const takeWaiting = () => {
    if (waiting !== undefined && others.of(waiting) === undefined) addTo(plan, waiting, name);
    waiting = undefined;
  };
  for await (const event of recordsOf(uploads, file)) {
    // a request may stand behind its answer, which is left out where it is none to a GET: readers take it for a page
    others.add(event);
    takeWaiting();
    const { offset, coding, inner } = event.place;
    const type = typeOf(event.head.fields);
    if (LEFT_OUT.has(type) || isWithheldRecord(event.head, isWithheld)) continue;
    if (file.wanted !== null && type !== "warcinfo" && !file.wanted.has(offset)) continue;
    if (event.head.version === "arc") {
      const message = `${file.key} is an ARC file: WACZ files take the records of WARC files alone`;
      throw new PermanentError(message, { code: "EXPORT_UNSUPPORTED" });
    }
    if (coding !== undefined || inner !== undefined) {
      const message = `The records of ${file.key} are no gzip members of their own: WACZ files take none but those`;
      throw new PermanentError(message, { code: "EXPORT_UNSUPPORTED" });
    }
    waiting = event;
  }
  takeWaiting();
  return plan;
}

function addTo(plan: RecordPlan, record: WarcRecord, name: string): void {
  const { offset, length } = record.place;
  const type = typeOf(record.head.fields);
  const line = INDEXED.has(type) ? indexLine(record, type, { name, offset: plan.bytes, length }) : undefined;
  if (line !== undefined) plan.lines.push(line);
  const last = plan.ranges.at(-1);
  if (last !== undefined && last.offset + last.length === offset) last.length += length;
  else plan.ranges.push({ offset, length });
  plan.bytes += length;
}

function isWithheldRecord({ fields }: RecordHead, isWithheld: IsWithheld): boolean {
  const url = uriOf(fields);
  return url !== "" && isWithheld(url, new Date(fields.get("warc-date") ?? ""));
}

const uriOf = (fields: RecordHead["fields"]): string => (fields.get("warc-target-uri") ?? "").replace(/^<(.*)>$/, "$1");

/** The records of a WARC file, or of those that lie in a WACZ file as they are, with their places in the object. */
async function* recordsOf(
  uploads: Pick<Uploads, "stream">,
  { key, etag, from, to, lengths }: SourceFile,
): AsyncGenerator<WarcRecord> {
  const read: RangeReader = (offset, length) => uploads.stream(key, { offset, length, etag });
  const keep = ({ fields }: RecordHead) =>
    INDEXED.has(typeOf(fields)) ? KEPT_BYTES : typeOf(fields) === "request" ? REQUEST_BYTES : 0;
  const partOf = (base: number, end: number) =>
    async function* (offset: number): AsyncGenerator<Uint8Array> {
      if (base + offset < end) yield* read(base + offset, end - base - offset);
    };
  if (lengths !== undefined && lengths.size <= FEW_RECORDS) {
    for (const [base, length] of [...lengths].toSorted(([one], [other]) => one - other)) {
      for await (const event of readWarcFile(partOf(base, base + length), { keep })) {
        if (event.kind === "record") yield { ...event, place: { ...event.place, offset: base + event.place.offset } };
      }
    }
    return;
  }
  const isPackage = from === 0 && isZip(await bytesAt(read, 0, Math.min(4, to)));
  const inPackage = isPackage ? (await readWaczPackage(read, to)).warcs.filter(({ isDeflated }) => !isDeflated) : [];
  const parts = inPackage.length > 0 ? inPackage : [null];
  for (const entry of parts) {
    const base = entry === null ? from : await dataOffset(read, entry);
    if (base === undefined) continue;
    const end = entry === null ? to : base + entry.bytes;
    for await (const event of readWarcFile(partOf(base, end), { keep })) {
      if (event.kind === "complaint") continue;
      yield { ...event, place: { ...event.place, offset: base + event.place.offset } };
    }
  }
}

/** The bytes of the ranges, one behind the other. */
export async function* copyRanges(
  uploads: Pick<Uploads, "stream">,
  { key, etag }: Pick<SourceFile, "key" | "etag">,
  ranges: readonly Range[],
): AsyncGenerator<Uint8Array> {
  const [first] = ranges;
  if (first === undefined) return;
  const window = new ByteWindow((offset) => uploads.stream(key, { offset, etag }), first.offset);
  try {
    for (const { offset, length } of ranges) {
      const gap = offset - window.offset;
      if (gap > NEAR) await window.moveTo(offset);
      else if (gap > 0) await skip(window, gap);
      for (let left = length; left > 0; ) {
        const bytes = (await window.fill(1)).subarray(0, left);
        if (bytes.length === 0) throw new PermanentError(`${key} ends too early`, { code: "WARC_INVALID" });
        window.skip(bytes.length);
        left -= bytes.length;
        yield bytes;
      }
    }
  } finally {
    await window.close();
  }
}

/** Bytes that are rather read than asked for by another request. */
const NEAR = 1024 * 1024;

async function skip(window: ByteWindow, length: number): Promise<void> {
  for (let left = length; left > 0; ) {
    const { length: there } = (await window.fill(1)).subarray(0, left);
    if (there === 0) return;
    window.skip(there);
    left -= there;
  }
}

const typeOf = (fields: ReadonlyMap<string, string>): string => (fields.get("warc-type") ?? "").toLowerCase();

interface NewPlace extends Range {
  name: string;
}

function indexLine({ head: { fields }, block }: WarcRecord, type: string, place: NewPlace): string | undefined {
  const url = uriOf(fields);
  const date = new Date(fields.get("warc-date") ?? "");
  if (!/^https?:/i.test(url) || Number.isNaN(date.getTime())) return undefined;
  const http = holdsHttp(fields, block) ? parseHttpMessage(block) : undefined;
  const contentType = http?.httpHeaders.find(([name]) => name.toLowerCase() === "content-type")?.[1];
  const media = (http === undefined ? fields.get("content-type") : contentType)?.split(";")[0]?.trim();
  const rest = {
    url,
    mime: type === "revisit" ? "warc/revisit" : media || undefined,
    status: http === undefined ? (type === "resource" ? "200" : undefined) : /^\S+ +(\d{3})/.exec(http.startLine)?.[1],
    digest: fields.get("warc-payload-digest"),
    length: String(place.length),
    offset: String(place.offset),
    filename: place.name,
  };
  return `${surtOf(url)} ${timestampOf(date)} ${JSON.stringify(rest)}`;
}
