/**
 * Writes a ZIP file as a stream: entries are stored as they are, so that what lies in them is read by its place, and
 * files of more than 4 GB have ZIP64 fields (APPNOTE.TXT 6.3.10).
 */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

export interface ZipEntry {
  path: string;
  bytes: number;
  /** Hex. */
  sha256: string;
}

interface CentralEntry extends ZipEntry {
  crc: number;
  /** Of its local header. */
  offset: number;
  isLarge: boolean;
}

const LOCAL = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
/** Sizes follow the data, and names are UTF-8. */
const FLAGS = 0x0808;
const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;
/** Bytes of an entry without fields of ZIP64. */
export const MAX_PLAIN_ENTRY = MAX_32 - 1;

export class ZipWriter {
  readonly #sink: (bytes: Uint8Array) => Promise<void>;
  readonly #time: number;
  readonly #entries: CentralEntry[] = [];
  #offset = 0;

  /** @param modified of all entries */
  constructor(sink: (bytes: Uint8Array) => Promise<void>, modified: Date) {
    this.#sink = sink;
    this.#time = dosTime(modified);
  }

  /**
   * @param largest bytes that the entry may have: over 4 GB its fields are those of ZIP64
   * @throws RangeError where it has more
   */
  async add(
    path: string,
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    largest = MAX_PLAIN_ENTRY,
  ): Promise<ZipEntry> {
    const name = Buffer.from(path);
    const isLarge = largest >= MAX_32;
    const offset = this.#offset;
    const extra = isLarge ? extraField([0, 0]) : Buffer.alloc(0);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(LOCAL, 0);
    head.writeUInt16LE(isLarge ? 45 : 20, 4);
    head.writeUInt16LE(FLAGS, 6);
    head.writeUInt32LE(this.#time, 10);
    if (isLarge) head.fill(0xff, 18, 26);
    head.writeUInt16LE(name.length, 26);
    head.writeUInt16LE(extra.length, 28);
    await this.#write(Buffer.concat([head, name, extra]));
    const hash = createHash("sha256");
    let [crc, bytes] = [0, 0];
    for await (const chunk of chunks) {
      hash.update(chunk);
      crc = crc32(chunk, crc);
      bytes += chunk.length;
      await this.#write(chunk);
    }
    if (bytes > largest || (!isLarge && bytes >= MAX_32))
      throw new RangeError(`${path} has more than ${largest} bytes`);
    const descriptor = Buffer.alloc(isLarge ? 24 : 16);
    descriptor.writeUInt32LE(DESCRIPTOR, 0);
    descriptor.writeUInt32LE(crc, 4);
    for (const place of [0, 1]) {
      if (isLarge) descriptor.writeBigUInt64LE(BigInt(bytes), 8 + 8 * place);
      else descriptor.writeUInt32LE(bytes, 8 + 4 * place);
    }
    await this.#write(descriptor);
    const entry = { path, bytes, sha256: hash.digest("hex") };
    this.#entries.push({ ...entry, crc, offset, isLarge });
    return entry;
  }

  /** Writes the directory; nothing can follow. */
  async end(): Promise<void> {
    const begin = this.#offset;
    for (const entry of this.#entries) await this.#write(this.#centralEntry(entry));
    const [bytes, count] = [this.#offset - begin, this.#entries.length];
    if (begin >= MAX_32 || bytes >= MAX_32 || count >= MAX_16)
      await this.#write(end64(count, bytes, begin, this.#offset));
    const end = Buffer.alloc(22);
    end.writeUInt32LE(END, 0);
    end.writeUInt16LE(Math.min(count, MAX_16), 8);
    end.writeUInt16LE(Math.min(count, MAX_16), 10);
    end.writeUInt32LE(Math.min(bytes, MAX_32), 12);
    end.writeUInt32LE(Math.min(begin, MAX_32), 16);
    await this.#write(end);
  }

  #centralEntry({ path, bytes, crc, offset, isLarge }: CentralEntry): Buffer {
    const name = Buffer.from(path);
    const large = [...(isLarge ? [bytes, bytes] : []), ...(offset >= MAX_32 ? [offset] : [])];
    const extra = large.length > 0 ? extraField(large) : Buffer.alloc(0);
    const head = Buffer.alloc(46);
    head.writeUInt32LE(CENTRAL, 0);
    head.writeUInt16LE(45, 4);
    head.writeUInt16LE(large.length > 0 ? 45 : 20, 6);
    head.writeUInt16LE(FLAGS, 8);
    head.writeUInt32LE(this.#time, 12);
    head.writeUInt32LE(crc, 16);
    head.writeUInt32LE(isLarge ? MAX_32 : bytes, 20);
    head.writeUInt32LE(isLarge ? MAX_32 : bytes, 24);
    head.writeUInt16LE(name.length, 28);
    head.writeUInt16LE(extra.length, 30);
    head.writeUInt32LE(Math.min(offset, MAX_32), 42);
    return Buffer.concat([head, name, extra]);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#offset += bytes.length;
    await this.#sink(bytes);
  }
}

function extraField(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * values.length);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return field;
}

function end64(count: number, bytes: number, begin: number, offset: number): Buffer {
  const end = Buffer.alloc(76);
  end.writeUInt32LE(END_64, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(45, 12);
  end.writeUInt16LE(45, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(bytes), 40);
  end.writeBigUInt64LE(BigInt(begin), 48);
  end.writeUInt32LE(LOCATOR_64, 56);
  end.writeBigUInt64LE(BigInt(offset), 64);
  end.writeUInt32LE(1, 72);
  return end;
}

/** Time in the lower half, date in the upper one. */
function dosTime(date: Date): number {
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  const day =
    ((Math.max(date.getUTCFullYear(), 1980) - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate();
  return ((day << 16) | time) >>> 0;
}
