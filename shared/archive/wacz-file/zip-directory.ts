/**
 * Reads the directory of a ZIP file over ranges (APPNOTE.TXT 6.3.10): of ZIP64, too, and of files that lie about
 * themselves. What cannot be trusted of it is a complaint, and no entry.
 */

/** Gives `length` bytes of the file from `offset`; fewer are where it ends. */
export type RangeReader = (offset: number, length: number) => AsyncIterable<Uint8Array>;

export interface ZipEntry {
  /** With slashes, as it stands in the directory. */
  name: string;
  isDeflated: boolean;
  /** In the file. */
  packedBytes: number;
  bytes: number;
  crc: number;
  /** Of its local header. */
  headerOffset: number;
}

export type ZipFault = "ZIP_DAMAGED" | "ENTRY_NAME_UNSAFE" | "ENTRY_TWICE" | "ENTRY_OVERLAPS" | "ENTRY_UNSUPPORTED";

export interface ZipComplaint {
  code: ZipFault;
  message: string;
  /** Bytes from the start of the file. */
  offset: number;
}

export interface ZipDirectory {
  /** In the order of the file. */
  entries: ZipEntry[];
  complaints: ZipComplaint[];
}

const CENTRAL = 0x02014b50;
const END = Buffer.from([0x50, 0x4b, 5, 6]);
const END_BYTES = 22;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_64_BYTES = 20;
const END_64 = 0x06064b50;
const MAX_32 = 0xffff_ffff;
const LONGEST_COMMENT = 0xffff;
/** A WACZ has as many files as a crawl had workers; each takes some 100 bytes of the directory. */
const LARGEST_DIRECTORY = 32 * 1024 * 1024;
const MOST_ENTRIES = 100_000;

/** A directory that cannot be read. */
class DirectoryFault extends Error {}

/** @returns no entries, and the reason, where it has no directory that can be read */
export async function readZipDirectory(read: RangeReader, size: number): Promise<ZipDirectory> {
  try {
    const { count, bytes, offset } = await findDirectory(read, size);
    if (bytes > LARGEST_DIRECTORY || count > MOST_ENTRIES) throw new DirectoryFault("it is too large to be one");
    if (offset + bytes > size) throw new DirectoryFault("it should lie behind the end of the file");
    return parseDirectory(await bytesAt(read, offset, bytes), { count, offset });
  } catch (error) {
    if (!(error instanceof DirectoryFault)) throw error;
    const message = `the directory of the ZIP file cannot be read: ${error.message}`;
    return { entries: [], complaints: [{ code: "ZIP_DAMAGED", message, offset: 0 }] };
  }
}

/** Where the bytes of an entry begin: its local header says how long itself is. */
export async function dataOffset(read: RangeReader, { headerOffset, name }: ZipEntry): Promise<number | undefined> {
  const header = await bytesAt(read, headerOffset, 30);
  if (header.length < 30 || header.readUInt32LE(0) !== 0x04034b50) return undefined;
  const nameLength = header.readUInt16LE(26);
  const local = await bytesAt(read, headerOffset + 30, nameLength);
  // readers that go by the local headers would see another file
  if (nameOf(local) !== name) return undefined;
  return headerOffset + 30 + nameLength + header.readUInt16LE(28);
}

export async function bytesAt(read: RangeReader, offset: number, length: number): Promise<Buffer> {
  if (length === 0) return Buffer.alloc(0);
  const parts: Uint8Array[] = [];
  for await (const chunk of read(offset, length)) parts.push(chunk);
  return Buffer.concat(parts);
}

interface Place {
  count: number;
  bytes: number;
  offset: number;
}

async function findDirectory(read: RangeReader, size: number): Promise<Place> {
  const from = Math.max(0, size - END_BYTES - LONGEST_COMMENT - LOCATOR_64_BYTES);
  const tail = await bytesAt(read, from, size - from);
  const at = endRecord(tail);
  if (at === undefined) throw new DirectoryFault("its end record is missing, so that the file may have been cut");
  const place = {
    count: tail.readUInt16LE(at + 10),
    bytes: tail.readUInt32LE(at + 12),
    offset: tail.readUInt32LE(at + 16),
  };
  const locator = at - LOCATOR_64_BYTES;
  const isLarge = locator >= 0 && tail.readUInt32LE(locator) === LOCATOR_64;
  if (!isLarge) {
    if (tail.readUInt16LE(at + 4) !== tail.readUInt16LE(at + 6))
      throw new DirectoryFault("it is spread over several files");
    return place;
  }
  const end = await bytesAt(read, number64(tail, locator + 8), 56);
  if (end.length < 56 || end.readUInt32LE(0) !== END_64) throw new DirectoryFault("its end record of ZIP64 is missing");
  return { count: number64(end, 32), bytes: number64(end, 40), offset: number64(end, 48) };
}

/** The last one whose comment reaches to the end of the file. */
function endRecord(tail: Buffer): number | undefined {
  for (let at = tail.lastIndexOf(END); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(END, at - 1)) {
    if (at + END_BYTES > tail.length) continue;
    if (at + END_BYTES + tail.readUInt16LE(at + 20) <= tail.length) return at;
  }
  return undefined;
}

function number64(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64LE(at);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new DirectoryFault("it names a place that no file reaches");
  return Number(value);
}

function parseDirectory(bytes: Buffer, { count, offset }: Pick<Place, "count" | "offset">): ZipDirectory {
  const entries: ZipEntry[] = [];
  const complaints: ZipComplaint[] = [];
  const names = new Set<string>();
  let at = 0;
  for (let index = 0; index < count; index++) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== CENTRAL) {
      const message = `the directory of the ZIP file ends after ${index} of ${count} entries`;
      complaints.push({ code: "ZIP_DAMAGED", message, offset: offset + at });
      break;
    }
    const next = at + 46 + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    const name = nameOf(bytes.subarray(at + 46, at + 46 + bytes.readUInt16LE(at + 28)));
    const entry = parseEntry(bytes.subarray(at, next), name);
    at = next;
    if ("code" in entry) complaints.push(entry);
    else if (names.has(name))
      complaints.push(left("ENTRY_TWICE", name, "another has the same name", entry.headerOffset));
    else if (!name.endsWith("/")) entries.push(entry);
    names.add(name);
  }
  return withoutOverlaps(entries, complaints, offset);
}

function parseEntry(bytes: Buffer, name: string): ZipEntry | ZipComplaint {
  const flags = bytes.readUInt16LE(8);
  const method = bytes.readUInt16LE(10);
  const sizes = {
    bytes: bytes.readUInt32LE(24),
    packedBytes: bytes.readUInt32LE(20),
    headerOffset: bytes.readUInt32LE(42),
  };
  const whole = withLarge(sizes, bytes.subarray(46 + bytes.readUInt16LE(28)));
  if (whole === undefined) return left("ENTRY_UNSUPPORTED", name, "its fields of ZIP64 are missing or absurd", 0);
  const { headerOffset } = whole;
  const unsafe = unsafeName(name);
  if (unsafe !== undefined) return left("ENTRY_NAME_UNSAFE", name, unsafe, headerOffset);
  if ((flags & 0x2041) !== 0) return left("ENTRY_UNSUPPORTED", name, "it is encrypted", headerOffset);
  if (method !== 0 && method !== 8) {
    return left(
      "ENTRY_UNSUPPORTED",
      name,
      `it is compressed by method ${method}, not stored or deflated`,
      headerOffset,
    );
  }
  if (method === 0 && whole.bytes !== whole.packedBytes) {
    return left("ENTRY_UNSUPPORTED", name, "it is stored, and has two different sizes", headerOffset);
  }
  return { name, isDeflated: method === 8, crc: bytes.readUInt32LE(16), ...whole };
}

type Sizes = Pick<ZipEntry, "bytes" | "packedBytes" | "headerOffset">;

/** Takes from the extra field what is over 4 GB; undefined where it is not there. */
function withLarge(sizes: Sizes, extra: Buffer): Sizes | undefined {
  const missing = (["bytes", "packedBytes", "headerOffset"] as const).filter((each) => sizes[each] === MAX_32);
  if (missing.length === 0) return sizes;
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    const values = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    if (values.length < 8 * missing.length) return undefined;
    // no file reaches there
    if (missing.some((_, index) => values.readUInt32LE(8 * index + 4) > 0x1f_ffff)) return undefined;
    const large = missing.map((each, index) => [each, Number(values.readBigUInt64LE(8 * index))]);
    return { ...sizes, ...Object.fromEntries(large) };
  }
  return undefined;
}

const nameOf = (bytes: Buffer): string => bytes.toString("utf8");

function unsafeName(name: string): string | undefined {
  if (name === "") return "it has no name";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
  if (/[\u0000-\u001f\u007f]/.test(name)) return "its name holds control characters";
  if (/^([/\\]|[a-z]:)/i.test(name)) return "its name is an absolute path";
  if (name.split(/[/\\]/).includes("..")) return "its name leads out of the file's own folder";
  return undefined;
}

function left(code: ZipFault, name: string, why: string, offset: number): ZipComplaint {
  return { code, message: `the entry ${shown(name)} is left out: ${why}`, offset };
}

/** As it stands in a complaint. */
export const shown = (name: string): string => JSON.stringify(name.slice(0, 200));

/** Files that unpack to many times their size have entries that share their bytes. */
function withoutOverlaps(entries: ZipEntry[], complaints: ZipComplaint[], directory: number): ZipDirectory {
  const sorted = entries.toSorted((one, other) => one.headerOffset - other.headerOffset);
  const kept: ZipEntry[] = [];
  let end = 0;
  for (const entry of sorted) {
    const { headerOffset, packedBytes, name } = entry;
    const entryEnd = headerOffset + 30 + Buffer.byteLength(name) + packedBytes;
    if (headerOffset < end) {
      complaints.push(left("ENTRY_OVERLAPS", name, "its bytes are those of another one, too", headerOffset));
    } else if (entryEnd > directory) {
      complaints.push(left("ENTRY_OVERLAPS", name, "it reaches into the directory", headerOffset));
    } else {
      kept.push(entry);
      end = entryEnd;
    }
  }
  return { entries: kept, complaints };
}
