/**
 * The line that begins a record of an ARC file, the format before WARC, versions 1 and 2:
 * http://archive.org/web/researcher/ArcFileFormat.php. It is told in the words of WARC.
 */
import { createHash } from "node:crypto";

export interface ArcLine {
  /** As WARC would have them, names in lower case; a length that is none as the line has it. */
  fields: Map<string, string>;
  /** Bytes of the line, its end included. */
  length: number;
}

/** Of a line: URLs of some kilobytes are the longest that servers take. */
export const LONGEST_LINE = 64 * 1024;
const URL_START = /^[a-z][a-z0-9+.-]*:/i;
const IPV4 = /^(?:[\d.]{7,15}|-)$/;
const IPV6 = /^[\da-f:.]{1,45}$/i;
const DATE = /^\d{4,20}$/;

/** URL, address, date, and what follows: both versions end with the length of the block. URLs may hold blanks. */
function wordsOf(line: string) {
  if (!URL_START.test(line)) return undefined;
  const words = (line.endsWith("\r") ? line.slice(0, -1) : line).split(" ");
  const last = words.length - 1;
  const at = words.findIndex(
    (word, index) => index > 0 && index + 1 < last && isAddress(word) && DATE.test(words[index + 1] ?? ""),
  );
  const [address = "", date = ""] = words.slice(at);
  const blockLength = words[last] ?? "";
  if (at < 0 || !/^\S+$/.test(blockLength)) return undefined;
  const type = at + 2 < last ? (words[at + 2] ?? "") : "";
  return { url: words.slice(0, at).join(" "), address, date, type, blockLength };
}

const isAddress = (word: string): boolean => IPV4.test(word) || (word.includes(":") && IPV6.test(word));

/** @returns the line that the bytes begin with; undefined where that is none of ARC, or is not all there */
export function arcLine(bytes: Buffer): ArcLine | undefined {
  const end = bytes.subarray(0, LONGEST_LINE).indexOf("\n");
  const line = end < 0 ? "" : bytes.toString("latin1", 0, end);
  const words = wordsOf(line);
  if (words === undefined) return undefined;
  const { url, address, date, type, blockLength } = words;
  const isHttp = /^https?:/i.test(url);
  return {
    length: end + 1,
    fields: new Map([
      ["warc-type", /^filedesc:/i.test(url) ? "warcinfo" : "response"],
      // as bytes: URLs of that time may be in any charset
      ["warc-target-uri", Buffer.from(url, "latin1").toString("utf8")],
      ["warc-ip-address", address],
      ["warc-date", isoDate(date)],
      // ARC has no ids: the same record has the same one wherever it is read
      ["warc-record-id", `<arc:${createHash("sha256").update(line.trimEnd()).digest("hex")}>`],
      ["content-type", isHttp ? "application/http; msgtype=response" : type],
      ["content-length", blockLength],
    ]),
  };
}

/** Where the first line of ARC begins behind the end of another line; -1 where there is none. */
export function arcLineIn(bytes: Buffer): number {
  for (let end = bytes.indexOf("\n"); end >= 0; end = bytes.indexOf("\n", end + 1)) {
    if (arcLine(bytes.subarray(end + 1)) !== undefined) return end + 1;
  }
  return -1;
}

/** `yyyyMMddhhmmss`, or less of it, as WARC writes times; any other as it is. */
function isoDate(digits: string): string {
  if (![8, 10, 12, 14, 17].includes(digits.length)) return digits;
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/.exec(digits.padEnd(14, "0"));
  const [, year, month, day, hour, minute, second] = parts ?? [];
  return `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}
