/** Parses the head of a record: version line and fields of WARC, or the one line of ARC. */
import { arcLine } from "../../capture/arc-head.ts";
import { headEnd, headLines, warcFields } from "../../capture/message-head.ts";

export interface RecordHead {
  /** `1.0`, `1.1` or what else the record says; `arc` of ARC. */
  version: string;
  /** Names in lower case; of a repeated field the first. */
  fields: ReadonlyMap<string, string>;
  /** Bytes of the block that follows. */
  blockLength: number;
}

/** What is wrong with a head. */
export interface HeadFault {
  code: "NOT_A_RECORD" | "LENGTH_INVALID" | "HEAD_TOO_LONG" | "FILE_CUT";
  why: string;
}

const VERSION = /^WARC\/(\d+\.\d+)[ \t]*$/;
/** `WARC/` and the digits of a version, as a record begins. */
export const RECORD_START = Buffer.from("WARC/");

/** Kinds of files: records of the one within the other are part of a block, or garbage. */
export type RecordFormat = "warc" | "arc";

/** Of the record that begins here; undefined where none does. */
export function formatOf(bytes: Buffer): RecordFormat | undefined {
  if (/^WARC\/\d/.test(bytes.subarray(0, 6).toString("latin1"))) return "warc";
  return arcLine(bytes) === undefined ? undefined : "arc";
}

/** Where the block begins; undefined where the bytes hold no whole head. */
export function headLength(bytes: Buffer): number | undefined {
  if (formatOf(bytes) === "arc") return arcLine(bytes)?.length;
  return headEnd(bytes, bytes.length)?.next;
}

export function parseHead(bytes: Buffer): RecordHead | HeadFault {
  const arc = arcLine(bytes);
  if (arc !== undefined) return headOf("arc", arc.fields);
  const [first = "", ...lines] = headLines(bytes.toString("utf8"));
  const version = VERSION.exec(first)?.[1];
  if (version === undefined) return { code: "NOT_A_RECORD", why: "it does not begin with a WARC version line" };
  return headOf(version, warcFields(lines));
}

function headOf(version: string, fields: ReadonlyMap<string, string>): RecordHead | HeadFault {
  const length = fields.get("content-length");
  if (length === undefined || !/^\d{1,15}$/.test(length)) {
    const what = length === undefined ? "it has no Content-Length" : "its Content-Length is no number of bytes";
    return { code: "LENGTH_INVALID", why: what };
  }
  return { version, fields, blockLength: Number(length) };
}
