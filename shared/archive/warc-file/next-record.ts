/** Finds where the next record begins, behind a fault. */
import { constants, inflateRawSync } from "node:zlib";
import { arcLineIn } from "../../capture/arc-head.ts";
import type { ByteWindow } from "./byte-window.ts";
import type { DecodedBytes } from "./decoded-bytes.ts";
import { formatOf, RECORD_START, type RecordFormat } from "./record-head.ts";

const GZIP_START = Buffer.from([0x1f, 0x8b, 8]);
const ZSTD_START = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Looked at to tell whether a record begins. */
const LOOK_BYTES = 1024;
const STEP_BYTES = 64 * 1024;
/** What looks like a record and is none, in one search: a file made of such must not take for ever. */
const MOST_TRIALS = 20_000;
/** A version line and the name of a field. */
const PLAIN_RECORD = /^WARC\/\d\.\d{1,2}[ \t]*\r?\n[\w-]+[ \t]*:/;

/** What is looked for. */
export interface Sought {
  /** Whether a plain record is, too: within a damaged member, what looks like one is part of it. */
  plain: boolean;
  /** Of the file, where that is known. */
  format: RecordFormat | undefined;
}

/** Moves the window to the next member that holds a record, or to the end of the file. */
export async function findMember(window: ByteWindow, { plain, format }: Sought): Promise<void> {
  const starts = plain ? [GZIP_START, ZSTD_START, RECORD_START] : [GZIP_START, ZSTD_START];
  const trials = { left: MOST_TRIALS };
  for (;;) {
    const bytes = await window.fill(STEP_BYTES);
    const whole = bytes.length < STEP_BYTES;
    const searched = whole ? bytes.length : bytes.length - LOOK_BYTES;
    const at = firstStart(bytes, searched, starts, { trials, plain, format });
    if (at >= 0) return window.skip(at);
    // the last byte may be the end of a line
    window.skip(whole ? searched : searched - 1);
    if (whole) return;
  }
}

interface Search extends Sought {
  trials: { left: number };
}

function firstStart(bytes: Buffer, searched: number, starts: readonly Buffer[], search: Search): number {
  const { trials, plain, format } = search;
  const found = starts.flatMap((start) => {
    for (
      let at = bytes.indexOf(start);
      at >= 0 && at < searched && trials.left > 0;
      at = bytes.indexOf(start, at + 1)
    ) {
      trials.left -= 1;
      if (beginsRecord(bytes.subarray(at, at + LOOK_BYTES), start)) return [at];
    }
    return [];
  });
  const arc = plain && format !== "warc" ? arcLineIn(bytes) : -1;
  if (arc >= 0 && arc < searched) found.push(arc);
  return found.length === 0 ? -1 : Math.min(...found);
}

function beginsRecord(bytes: Buffer, start: Buffer): boolean {
  if (start === RECORD_START) return PLAIN_RECORD.test(bytes.toString("latin1", 0, 80));
  // whether a frame is one is told by its blocks, later
  if (start === ZSTD_START) return true;
  return beginsWithRecord(bytes);
}

/** Whether a gzip member without a name begins here, and its first bytes are those of a record. */
function beginsWithRecord(bytes: Buffer): boolean {
  const flags = bytes[3] ?? 0xff;
  if (flags > 31) return false;
  let header = 10;
  if (flags & 4) header += 2 + (bytes.length > 12 ? bytes.readUInt16LE(10) : 0);
  for (const flag of [8, 16]) if (flags & flag) header = bytes.indexOf(0, header) + 1;
  if (flags & 2) header += 2;
  try {
    const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 2 * LOOK_BYTES * 1032 };
    const start = inflateRawSync(bytes.subarray(header), options);
    return start.length === 0 || formatOf(start) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Moves on to the next record within the present member; false at its end.
 * @param skipped bytes that are no start of a record
 */
export async function findRecord(
  decoded: DecodedBytes,
  skipped: number,
  format: RecordFormat | undefined,
): Promise<boolean> {
  decoded.skip(Math.min(skipped, (await decoded.fill(skipped)).length));
  for (;;) {
    const bytes = await decoded.fill(STEP_BYTES);
    const searched = decoded.memberEnded ? bytes.length : bytes.length - LOOK_BYTES;
    for (let at = bytes.indexOf(RECORD_START); at >= 0 && at < searched; at = bytes.indexOf(RECORD_START, at + 1)) {
      if (!PLAIN_RECORD.test(bytes.toString("latin1", at, at + 80))) continue;
      decoded.skip(at);
      return true;
    }
    const arc = format === "warc" ? -1 : arcLineIn(bytes);
    if (arc >= 0 && arc < searched) {
      decoded.skip(arc);
      return true;
    }
    decoded.skip(decoded.memberEnded ? searched : Math.max(searched - 1, 0));
    if (decoded.memberEnded) return false;
  }
}
