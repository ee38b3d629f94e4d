/** Reads a WARC object through, and says what is wrong with it and with the captures that point at it. */
import { createHash } from "node:crypto";
import type { Uploads } from "../../platform/aws/uploads.ts";
import type { Sql } from "../../platform/database/database.ts";
import { PermanentError } from "../../platform/errors.ts";
import { digestObjections, LongBlock, recordIdOf } from "../import/capture-of-record.ts";
import { isZip, readWaczPackage } from "../wacz-file/read-package.ts";
import { bytesAt, dataOffset, type RangeReader } from "../wacz-file/zip-directory.ts";
import { readWarcFile, type WarcComplaint, type WarcRecord } from "../warc-file/read-warc-file.ts";
import type { RecordHead } from "../warc-file/record-head.ts";
import { capturePointers, type PlacedCapture } from "./capture-pointers.ts";
import { type FileFault, LEVELS, type Level } from "./task.ts";

export interface KnownFile {
  key: string;
  bytes: number;
  etag: string;
  /** Null where it was never read to its end. */
  sha256: string | null;
}

export interface Verified {
  faults: FileFault[];
  /** Null where it was not read to its end. */
  records: number | null;
  sha256: string | null;
  /** Whether it is made of records that are gzip members of their own, and of nothing else. */
  plain: boolean;
}

/** Bytes of a block that are kept to look at its payload. */
const KEPT_BYTES = 10 * 1024 * 1024;
/** Kept of one file: all faults of a damaged one say no more. */
const MOST_FAULTS = 1000;
const GZIP_FAULTS = new Set(["FILE_CUT", "MEMBER_DAMAGED", "NOT_A_WARC"]);
/** Nothing is wrong with the records. */
const HARMLESS = new Set(["MEMBER_SHARED"]);

/** @param proceed called now and then; throws where the work is to stop */
export async function verifyFile(
  { sql, uploads }: { sql: Sql; uploads: Pick<Uploads, "head" | "stream"> },
  file: KnownFile,
  level: Level,
  proceed: () => void = () => {},
): Promise<Verified> {
  const nothing = { records: null, sha256: null, plain: false };
  const object = await uploads.head(file.key);
  if (object === undefined) return { ...nothing, faults: [missing(file)] };
  if (object.etag !== file.etag || object.bytes !== file.bytes) return { ...nothing, faults: [replaced(file)] };
  try {
    return await new Verification(uploads, file, level, proceed).run(capturePointers(sql, file.key));
  } catch (error) {
    // it went, or was replaced, in the meantime
    if (!(error instanceof PermanentError)) throw error;
    return { ...nothing, faults: [{ code: error.code, message: error.message, offset: null }] };
  }
}

class Verification {
  readonly #uploads: Pick<Uploads, "stream">;
  readonly #file: KnownFile;
  readonly #level: number;
  readonly #proceed: () => void;
  readonly #hash = createHash("sha256");
  #hashed = 0;
  readonly #faults: FileFault[] = [];
  #long: LongBlock | undefined;
  #records = 0;
  #end = 0;
  #plain = true;

  constructor(uploads: Pick<Uploads, "stream">, file: KnownFile, level: Level, proceed: () => void) {
    this.#uploads = uploads;
    this.#file = file;
    this.#level = LEVELS.indexOf(level);
    this.#proceed = proceed;
  }

  async run(pointers: AsyncIterableIterator<PlacedCapture>): Promise<Verified> {
    const digests = this.#level >= LEVELS.indexOf("digests");
    const parsed = this.#level >= LEVELS.indexOf("parsed");
    const checked = parsed ? new PointerCheck(pointers, (fault) => this.#add(fault)) : undefined;
    for await (const event of this.#events(digests)) {
      this.#proceed();
      if (event.kind === "complaint") {
        if (parsed || GZIP_FAULTS.has(event.code)) this.#add(event);
      } else {
        await checked?.record(event);
        this.#record(event, digests);
      }
      if (this.#level === 0) return { faults: this.#faults, records: null, sha256: null, plain: false };
    }
    await checked?.end();
    const sha256 = await this.#sha256();
    if (this.#file.sha256 !== null && sha256 !== this.#file.sha256) {
      const message = `its bytes are not those of its SHA-256 ${this.#file.sha256}`;
      this.#faults.unshift({ code: "BYTES_CHANGED", message, offset: null });
    }
    const plain = this.#plain && this.#end === this.#file.bytes;
    return { faults: this.#faults, records: this.#records, sha256, plain };
  }

  /** Of all parts, with their places in the object. */
  async *#events(digests: boolean): AsyncGenerator<WarcRecord | WarcComplaint> {
    for (const { base, end } of await this.#parts()) {
      const events = readWarcFile((offset) => this.#stream(base + offset, end), {
        keep: () => (digests ? KEPT_BYTES : 0),
        observe: (head) => (digests ? this.#observe(head) : undefined),
      });
      for await (const event of events) {
        if (event.kind === "complaint") yield { ...event, offset: base + event.offset };
        else yield { ...event, place: { ...event.place, offset: base + event.place.offset } };
      }
    }
  }

  /** The object, or the WARC files that lie in a WACZ file as they are. */
  async #parts(): Promise<{ base: number; end: number }[]> {
    const { key, etag, bytes } = this.#file;
    const read: RangeReader = (offset, length) => this.#uploads.stream(key, { offset, length, etag });
    if (!isZip(await bytesAt(read, 0, Math.min(4, bytes)))) return [{ base: 0, end: bytes }];
    const parts: { base: number; end: number }[] = [];
    for (const entry of (await readWaczPackage(read, bytes)).warcs) {
      const base = entry.isDeflated ? undefined : await dataOffset(read, entry);
      if (base !== undefined) parts.push({ base, end: base + entry.bytes });
    }
    return parts.sort((a, b) => a.base - b.base);
  }

  #record(record: WarcRecord, digests: boolean): void {
    const { offset, length, coding, inner } = record.place;
    this.#plain &&= coding === undefined && inner === undefined && offset === this.#end;
    this.#end = offset + length;
    this.#records += 1;
    if (!digests) return;
    for (const { code, message } of digestObjections(record, this.#long?.digests())) {
      this.#add({ code, message, offset });
    }
  }

  #observe(head: RecordHead): ((bytes: Buffer) => void) | undefined {
    this.#long = head.blockLength > KEPT_BYTES ? new LongBlock(head) : undefined;
    return (bytes) => {
      this.#proceed();
      this.#long?.add(bytes);
    };
  }

  #add({ code, message, offset }: FileFault): void {
    if (HARMLESS.has(code)) this.#plain = false;
    else if (this.#faults.length < MOST_FAULTS) this.#faults.push({ code, message, offset });
  }

  async *#stream(from: number, end = this.#file.bytes): AsyncGenerator<Uint8Array> {
    let at = from;
    if (from >= end) return;
    const { key, etag } = this.#file;
    for await (const bytes of this.#uploads.stream(key, { offset: from, length: end - from, etag })) {
      this.#proceed();
      // behind a fault, bytes are read a second time
      if (at <= this.#hashed && at + bytes.length > this.#hashed) {
        this.#hash.update(bytes.subarray(this.#hashed - at));
        this.#hashed = at + bytes.length;
      }
      at += bytes.length;
      yield bytes;
    }
  }

  async #sha256(): Promise<string> {
    // what the reader has passed over
    for await (const _ of this.#stream(this.#hashed));
    return this.#hash.digest("hex");
  }
}

/** Follows the captures of a file beside its records; both come in the order of their places. */
class PointerCheck {
  readonly #pointers: AsyncIterator<PlacedCapture>;
  readonly #add: (fault: FileFault) => void;
  #next: PlacedCapture | undefined;

  constructor(pointers: AsyncIterator<PlacedCapture>, add: (fault: FileFault) => void) {
    this.#pointers = pointers;
    this.#add = add;
  }

  async record({ place, head }: WarcRecord): Promise<void> {
    const { offset, length, inner = 0, coding = null } = place;
    const recordId = recordIdOf(head.fields.get("warc-record-id"));
    for (;;) {
      const next = await this.#peek();
      if (next === undefined || next.offset > offset || (next.offset === offset && next.inner > inner)) return;
      const same = next.offset === offset && next.inner === inner;
      if (!same || next.length !== length || next.recordId !== recordId || next.coding !== coding) this.#lost(next);
      this.#next = undefined;
    }
  }

  async end(): Promise<void> {
    for (let next = await this.#peek(); next !== undefined; next = await this.#peek()) {
      this.#lost(next);
      this.#next = undefined;
    }
  }

  async #peek(): Promise<PlacedCapture | undefined> {
    if (this.#next !== undefined) return this.#next;
    const { done, value } = await this.#pointers.next();
    this.#next = done ? undefined : value;
    return this.#next;
  }

  #lost({ id, offset, recordId }: PlacedCapture): void {
    const message = `capture ${id} has its record ${recordId} here, and it is not here`;
    this.#add({ code: "RECORD_MISSING", message, offset });
  }
}

const missing = ({ key }: KnownFile): FileFault => ({
  code: "OBJECT_MISSING",
  message: `there is no object ${key}: restore it from the bucket's earlier versions or a backup`,
  offset: null,
});

const replaced = ({ key }: KnownFile): FileFault => ({
  code: "OBJECT_REPLACED",
  message: `the object ${key} was replaced by another: restore the version that captures point into`,
  offset: null,
});
