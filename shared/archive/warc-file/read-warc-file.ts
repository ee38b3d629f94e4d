/**
 * Reads a WARC file of any origin, record by record, in the memory of one: WARC 0.17 to 1.1, of records that are gzip
 * members or Zstandard frames each, of plain ones, and of files that are compressed as a whole; and ARC files likewise.
 *
 * A fault is a complaint with its place and its reason, never an exception; what stands behind it is read where a
 * record can be found there. A record is given only where all of it can be read again from its place.
 */
import { LONGEST_LINE } from "../../capture/arc-head.ts";
import type { WarcPlace } from "../../capture/capture.ts";
import { type ByteSource, ByteWindow } from "./byte-window.ts";
import { DecodedBytes, type Position } from "./decoded-bytes.ts";
import { codingOf, MemberFault } from "./members.ts";
import { findMember, findRecord } from "./next-record.ts";
import { formatOf, type HeadFault, headLength, parseHead, type RecordFormat, type RecordHead } from "./record-head.ts";

/** What can be wrong with a file or a record. */
export type WarcFault =
  | "NOT_A_WARC"
  | "FILE_CUT"
  | "MEMBER_DAMAGED"
  | "MEMBER_SHARED"
  | "NOT_A_RECORD"
  | "HEAD_TOO_LONG"
  | "LENGTH_INVALID"
  | "LENGTH_WRONG"
  | "RECORD_TOO_LONG"
  | "RECORD_END_MISSING";

export interface WarcRecord {
  kind: "record";
  place: WarcPlace;
  head: RecordHead;
  /** The first bytes of the block, as many as the reader was asked to keep. */
  block: Buffer;
  /** Where the next record is looked for. */
  next: Position;
}

export interface WarcComplaint<Code extends string = WarcFault> {
  kind: "complaint";
  code: Code;
  /** What is wrong, in a sentence without its place. */
  message: string;
  /** Bytes from the start of the file. */
  offset: number;
  next: Position;
}

export interface WarcReading {
  /** Where a record begins, from an earlier reading; the start of the file where left out. */
  from?: Position;
  /** Bytes of a record's block that are to be kept; none where left out. */
  keep?(head: RecordHead): number;
  /** Is given all of a block: what is kept first, and in one piece. */
  observe?(head: RecordHead): ((bytes: Buffer) => void) | undefined;
}

/** Of the fields of a record, in bytes; URLs of some kilobytes are the longest that servers take. */
const MAX_HEAD = 1024 * 1024;
/** Of a block: more is no record of the web, and would take longer than a function may. */
export const MAX_BLOCK = 16 * 1024 ** 3;
/** Bytes that are read a second time behind faults: a file that lies about all its lengths must not take for ever. */
const MAX_REREAD = 1024 ** 3;

export async function* readWarcFile(
  open: ByteSource,
  reading: WarcReading = {},
): AsyncGenerator<WarcRecord | WarcComplaint> {
  const window = new ByteWindow(open, reading.from?.offset ?? 0);
  try {
    yield* new WarcFile(window, reading).events();
  } finally {
    await window.close();
  }
}

type Event = WarcRecord | WarcComplaint;

class WarcFile {
  readonly #window: ByteWindow;
  readonly #decoded: DecodedBytes;
  readonly #reading: WarcReading;
  #reread = 0;
  /** Of the first record. */
  #format: RecordFormat | undefined;
  /** Of the last member that held more than one record. */
  #sharedMember: number;

  constructor(window: ByteWindow, reading: WarcReading) {
    this.#window = window;
    this.#decoded = new DecodedBytes(window);
    this.#reading = reading;
    this.#sharedMember = reading.from?.inner ? reading.from.offset : -1;
  }

  async *events(): AsyncGenerator<Event> {
    const { from } = this.#reading;
    const first = await this.#firstBytes();
    let records = 0;
    for (let begun = false; ; ) {
      try {
        if (!begun && from !== undefined) await this.#decoded.moveTo(from);
        begun = true;
        if (!(await this.#toRecord())) break;
        for await (const event of this.#record()) {
          if (event.kind === "record") records += 1;
          yield event;
        }
      } catch (error) {
        if (!(error instanceof MemberFault)) throw error;
        begun = true;
        yield await this.#behindFault(error);
      }
    }
    if (records === 0 && first !== undefined) yield this.#complaint("NOT_A_WARC", whatItIs(first), 0);
  }

  /** Of the file; undefined where it is not read from its start. */
  async #firstBytes(): Promise<Buffer | undefined> {
    if (this.#window.offset > 0 || this.#reading.from?.inner) return undefined;
    return Buffer.from((await this.#window.fill(16)).subarray(0, 16));
  }

  /** Stands at the first byte of what should be a record; false where the file ends. */
  async #toRecord(): Promise<boolean> {
    const decoded = this.#decoded;
    for (;;) {
      const bytes = await decoded.fill(4);
      if (bytes.length === 0) {
        if (!(await decoded.open())) return false;
        continue;
      }
      const blank = bytes.findIndex((byte) => byte !== 0x0d && byte !== 0x0a);
      decoded.skip(blank < 0 ? bytes.length : blank);
      if (blank !== 0) continue;
      if (decoded.coding !== "none" || codingOf(bytes) === "none") return true;
      // plain records may be followed by compressed ones
      await decoded.moveTo(decoded.position);
    }
  }

  async *#record(): AsyncGenerator<Event> {
    const decoded = this.#decoded;
    const start = decoded.position;
    const head = await this.#head();
    if ("why" in head) return yield* this.#without(head.code, head.why, start, start);
    this.#format ??= head.version === "arc" ? "arc" : "warc";
    const block = decoded.position;
    const { coding } = decoded;
    const length = `${head.blockLength} bytes of its Content-Length`;
    if (head.blockLength > MAX_BLOCK) {
      return yield* this.#without("RECORD_TOO_LONG", `the ${length} are more than is read`, start, block);
    }
    const kept = await this.#block(head);
    if (kept === undefined) {
      const why = `its block is shorter than the ${length}`;
      // where the next record's member has been opened, there is nothing to look for
      if (decoded.memberOffset !== block.offset && coding !== "none") yield this.#left("LENGTH_WRONG", why, start);
      else yield* this.#without("LENGTH_WRONG", why, start, block);
      return;
    }
    const end = await this.#recordEnd();
    if (end === "wrong") {
      return yield* this.#without("LENGTH_WRONG", `its block goes on behind the ${length}`, start, block);
    }
    const place: WarcPlace = {
      offset: start.offset,
      length: (coding === "none" ? decoded.position.offset : this.#window.offset) - start.offset,
      ...(coding === "gzip" ? {} : { coding }),
      ...(start.inner > 0 ? { inner: start.inner } : {}),
    };
    yield { kind: "record", place, head, block: kept, next: decoded.position };
    if (end === "glued") yield this.#complaint("RECORD_END_MISSING", "no empty lines end the record", start.offset);
    if (start.inner > 0 && start.offset !== this.#sharedMember) {
      this.#sharedMember = start.offset;
      const message = "several records share a member: each is read by decompressing it from its start";
      yield this.#complaint("MEMBER_SHARED", message, start.offset);
    }
  }

  async #head(): Promise<RecordHead | HeadFault> {
    const decoded = this.#decoded;
    for (let wanted = 1024; ; wanted *= 4) {
      const bytes = await decoded.fill(Math.min(wanted, MAX_HEAD));
      const isOther = this.#format === "warc" && formatOf(bytes) === "arc";
      const length = isOther ? undefined : headLength(bytes.subarray(0, MAX_HEAD));
      if (length !== undefined) {
        const head = parseHead(bytes.subarray(0, length));
        if (!("why" in head)) decoded.skip(length);
        return head;
      }
      if (isOther || (formatOf(bytes) === undefined && !mayBeArc(bytes))) return NO_HEAD;
      if (bytes.length >= MAX_HEAD) {
        return { code: "HEAD_TOO_LONG", why: `its fields have no end within ${MAX_HEAD} bytes` };
      }
      if (bytes.length < wanted && !(await decoded.continues())) {
        return { code: "FILE_CUT", why: "it ends within its fields" };
      }
    }
  }

  /** Reads the block; undefined where there is less of it than the head says. */
  async #block(head: RecordHead): Promise<Buffer | undefined> {
    const decoded = this.#decoded;
    const keep = Math.min(head.blockLength, this.#reading.keep?.(head) ?? 0);
    while ((await decoded.fill(keep)).length < keep) if (!(await decoded.continues())) return undefined;
    const kept = decoded.bytes.subarray(0, keep);
    const observe = this.#reading.observe?.(head);
    observe?.(kept);
    decoded.skip(keep);
    for (let left = head.blockLength - keep; left > 0; ) {
      if (decoded.bytes.length === 0 && !(await decoded.more()) && !(await decoded.continues())) return undefined;
      const part = decoded.bytes.subarray(0, left);
      observe?.(part);
      decoded.skip(part.length);
      left -= part.length;
    }
    return kept;
  }

  /** Reads the two line ends behind a block. */
  async #recordEnd(): Promise<"whole" | "glued" | "wrong"> {
    const decoded = this.#decoded;
    const isArc = this.#format === "arc";
    const bytes = await decoded.fill(MOST_BLANK + (isArc ? ARC_LOOK_BYTES : "WARC/1".length));
    const blank = bytes.findIndex((byte, index) => index >= MOST_BLANK || (byte !== 0x0d && byte !== 0x0a));
    const length = blank < 0 ? bytes.length : blank;
    const end = isArc ? ARC_END : RECORD_END;
    if (blank >= 0 && !end.test(bytes.toString("latin1", 0, length))) {
      if (formatOf(bytes.subarray(length)) === undefined) return "wrong";
      decoded.skip(length);
      return "glued";
    }
    decoded.skip(length);
    // so that the end of the member is known, and its checksum
    if (decoded.coding !== "none") await decoded.fill(1);
    return "whole";
  }

  /** Leaves a record out, and stands at the next one that can be found behind the given place. */
  async *#without(code: WarcFault, why: string, start: Position, behind: Position): AsyncGenerator<WarcComplaint> {
    let found = false;
    let fault: unknown;
    try {
      // behind a head that was damaged, the next record may begin at once
      found = await this.#search(behind, behind === start ? 1 : 0);
    } catch (error) {
      if (!(error instanceof MemberFault)) throw error;
      fault = error;
    }
    const isCut = code === "LENGTH_WRONG" && !found && fault === undefined;
    yield isCut ? this.#left("FILE_CUT", `${why}: the file ends before`, start) : this.#left(code, why, start);
    if (fault !== undefined) throw fault;
  }

  /**
   * @param skipped bytes that are no start of a record
   * @returns whether there is anything more in the file
   */
  async #search(behind: Position, skipped: number): Promise<boolean> {
    const decoded = this.#decoded;
    const plain = decoded.coding === "none";
    const { offset, inner } = decoded.position;
    const again = plain ? offset - behind.offset : inner - behind.inner;
    if (again > 0 && (plain || decoded.memberOffset === behind.offset) && this.#mayReread(again)) {
      await decoded.moveTo(behind);
    }
    if (!plain) return (await findRecord(decoded, skipped, this.#format)) || (await this.#window.fill(1)).length > 0;
    await this.#window.moveTo(decoded.position.offset);
    return await this.#findMember(skipped, { plain: true });
  }

  /** Stands at the next member behind one that is damaged. */
  async #behindFault(fault: MemberFault): Promise<WarcComplaint> {
    const { memberOffset: offset } = this.#decoded;
    if (this.#mayReread(this.#window.offset - offset)) await this.#window.moveTo(offset);
    const found = await this.#findMember(1, { plain: false });
    return this.#complaint(found ? "MEMBER_DAMAGED" : fault.code, fault.message, offset);
  }

  /** Opens the next member or plain record from this place of the file on; false where there is none. */
  async #findMember(skipped: number, kinds: { plain: boolean }): Promise<boolean> {
    await this.#window.fill(skipped);
    this.#window.skip(Math.min(skipped, this.#window.unread.length));
    await findMember(this.#window, { ...kinds, format: this.#format });
    return await this.#decoded.open();
  }

  #mayReread(bytes: number): boolean {
    this.#reread += bytes;
    return this.#reread <= MAX_REREAD;
  }

  #left(code: WarcFault, why: string, { offset }: Position): WarcComplaint {
    return this.#complaint(code, `the record is left out: ${why}`, offset);
  }

  #complaint(code: WarcFault, message: string, offset: number): WarcComplaint {
    return { kind: "complaint", code, message, offset, next: this.#decoded.position };
  }
}

/** Two line ends; some archivers write too many CR. */
const RECORD_END = /\n\r*\n/;
const MOST_BLANK = 8;

/** One line end is what ARC has between its records. */
const ARC_END = /\n/;
/** Of the line of a next record. */
const ARC_LOOK_BYTES = 4096;
const NO_HEAD: HeadFault = { code: "NOT_A_RECORD", why: "it does not begin with a WARC version line" };

/** Whether it is the beginning of a line that has not been read to its end. */
const mayBeArc = (bytes: Buffer): boolean =>
  bytes.length < LONGEST_LINE && /^[a-z][a-z0-9+.-]*:[^\n]*$/i.test(bytes.toString("latin1"));

function whatItIs(first: Buffer): string {
  if (first.length === 0) return "the file is empty";
  const start = first.toString("latin1");
  if (start.startsWith("PK")) return "this is a ZIP file, and none that can be read";
  return "the file holds no WARC record that can be read";
}
