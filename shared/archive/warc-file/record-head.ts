/** Parses the head of a record: version line and fields of WARC, or the one line of ARC. */
import { arcLine } from "../../capture/arc-head.ts";

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
/** Between a head and its block: some archivers write LF alone, or too many CR. */
const HEAD_END = /\n\r*\n/;

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
  const crlf = bytes.indexOf("\r\n\r\n");
  const end = HEAD_END.exec(bytes.toString("latin1", 0, crlf < 0 ? bytes.length : crlf + 4));
  return end === null ? undefined : end.index + end[0].length;
}

export function parseHead(bytes: Buffer): RecordHead | HeadFault {
  const arc = arcLine(bytes);
  if (arc !== undefined) return headOf("arc", arc.fields);
  const [first = "", ...lines] = bytes.toString("utf8").split(/\r*\n/);
  const version = VERSION.exec(first)?.[1];
  if (version === undefined) return { code: "NOT_A_RECORD", why: "it does not begin with a WARC version line" };
  const fields = new Map<string, string>();
  let last: string | undefined;
  for (const line of lines) {
    if (/^[ \t]/.test(line) && last !== undefined) {
      fields.set(last, `${fields.get(last)} ${line.trim()}`);
      continue;
    }
    const colon = line.indexOf(":");
    if (colon < 1) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    last = fields.has(name) ? undefined : name;
    if (last !== undefined) fields.set(name, line.slice(colon + 1).trim());
  }
  return headOf(version, fields);
}

function headOf(version: string, fields: ReadonlyMap<string, string>): RecordHead | HeadFault {
  const length = fields.get("content-length");
  if (length === undefined || !/^\d{1,15}$/.test(length)) {
    const what = length === undefined ? "it has no Content-Length" : "its Content-Length is no number of bytes";
    return { code: "LENGTH_INVALID", why: what };
  }
  return { version, fields, blockLength: Number(length) };
}
