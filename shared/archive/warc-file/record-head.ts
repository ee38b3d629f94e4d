/** Parses the head of a WARC record: its version line and its fields. */

export interface RecordHead {
  /** `1.0`, `1.1` or what else the record says. */
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

/** Where the block begins; undefined where the bytes hold no whole head. */
export function headLength(bytes: Buffer): number | undefined {
  const crlf = bytes.indexOf("\r\n\r\n");
  const end = HEAD_END.exec(bytes.toString("latin1", 0, crlf < 0 ? bytes.length : crlf + 4));
  return end === null ? undefined : end.index + end[0].length;
}

export function parseHead(bytes: Buffer): RecordHead | HeadFault {
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
  const length = fields.get("content-length");
  if (length === undefined || !/^\d{1,15}$/.test(length)) {
    const what = length === undefined ? "it has no Content-Length" : "its Content-Length is no number of bytes";
    return { code: "LENGTH_INVALID", why: what };
  }
  return { version, fields, blockLength: Number(length) };
}
