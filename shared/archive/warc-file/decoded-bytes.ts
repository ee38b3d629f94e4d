/** The decompressed bytes of a WARC file, member by member, with the place of the next unread one. */
import type { WarcCoding } from "../../capture/capture.ts";
import type { ByteWindow } from "./byte-window.ts";
import { codingOf, type Decoder, openMember } from "./members.ts";
import { formatOf } from "./record-head.ts";

/** A place in the file: of a member, and decompressed bytes before it in that member. */
export interface Position {
  offset: number;
  inner: number;
}

export class DecodedBytes {
  /** Decompressed, and not read yet. */
  bytes: Buffer = Buffer.alloc(0);
  coding: WarcCoding = "none";
  /** Of the present member. */
  memberOffset = 0;
  /** All of the present member is in `bytes`, or read. */
  memberEnded = true;
  #decoded = 0;
  #decoder: Decoder | undefined;
  readonly window: ByteWindow;

  constructor(window: ByteWindow) {
    this.window = window;
  }

  /** Of the next unread byte. */
  get position(): Position {
    const before = this.#decoded - this.bytes.length;
    if (this.coding === "none") return { offset: this.memberOffset + before, inner: 0 };
    if (this.memberEnded && this.bytes.length === 0) return { offset: this.window.offset, inner: 0 };
    return { offset: this.memberOffset, inner: before };
  }

  /** Begins with the member at which the window stands; false where the file ends. */
  async open(): Promise<boolean> {
    const start = await this.window.fill(4);
    this.coding = codingOf(start);
    this.memberOffset = this.window.offset;
    this.memberEnded = start.length === 0;
    this.bytes = Buffer.alloc(0);
    this.#decoded = 0;
    this.#decoder = openMember(this.window, this.coding);
    return start.length > 0;
  }

  /** Goes on at another place of the file. */
  async moveTo({ offset, inner }: Position): Promise<void> {
    await this.window.moveTo(offset);
    await this.open();
    for (let left = inner; left > 0; ) {
      if (this.bytes.length === 0 && !(await this.more())) return;
      const skipped = Math.min(left, this.bytes.length);
      this.skip(skipped);
      left -= skipped;
    }
  }

  /**
   * Decompresses some more of the present member; false at its end.
   * @throws MemberFault
   */
  async more(): Promise<boolean> {
    const chunk = await this.#next();
    if (chunk === undefined) return false;
    this.bytes = this.bytes.length === 0 ? chunk : Buffer.concat([this.bytes, chunk]);
    return true;
  }

  /** Decompresses until `length` bytes are at hand; fewer are where the member ends. */
  async fill(length: number): Promise<Buffer> {
    if (this.bytes.length >= length || this.memberEnded) return this.bytes;
    const parts = [this.bytes];
    for (let total = this.bytes.length; total < length; ) {
      const chunk = await this.#next();
      if (chunk === undefined) break;
      parts.push(chunk);
      total += chunk.length;
    }
    this.bytes = parts[0]?.length === 0 && parts.length === 2 ? (parts[1] as Buffer) : Buffer.concat(parts);
    return this.bytes;
  }

  skip(length: number): void {
    this.bytes = this.bytes.subarray(length);
  }

  /**
   * At the end of a member within a record: appends the next one where that goes on with the record, as files do that
   * were compressed without regard to records.
   */
  async continues(): Promise<boolean> {
    if (!this.memberEnded || this.coding === "none") return false;
    const rest = this.bytes;
    const coding = codingOf(await this.window.fill(4));
    if (coding !== this.coding) return false;
    await this.open();
    await this.more();
    if (this.bytes.length === 0 || formatOf(this.bytes) !== undefined) return false;
    this.bytes = Buffer.concat([rest, this.bytes]);
    return true;
  }

  async #next(): Promise<Buffer | undefined> {
    if (this.memberEnded) return undefined;
    const chunk = await this.#decoder?.next();
    if (chunk === undefined) this.memberEnded = true;
    else this.#decoded += chunk.length;
    return chunk;
  }
}
