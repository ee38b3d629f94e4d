import { crc32, deflateRawSync } from "node:zlib";

/** Reads a ZIP file by its directory, as players do; entries that are stored as they are, of up to 4 GB or more. */
export function zipEntries(file: Buffer): Map<string, Buffer> {
  const end = file.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const entries = new Map<string, Buffer>();
  for (let index = 0, at = file.readUInt32LE(end + 16); index < file.readUInt16LE(end + 10); index++) {
    if (file.readUInt16LE(at + 10) !== 0) throw new Error("The entry is compressed");
    const nameLength = file.readUInt16LE(at + 28);
    const stated = file.readUInt32LE(at + 24);
    // the first value of the only extra field
    const size = stated === 0xffff_ffff ? Number(file.readBigUInt64LE(at + 46 + nameLength + 4)) : stated;
    const local = file.readUInt32LE(at + 42);
    const data = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28);
    entries.set(file.toString("utf8", at + 46, at + 46 + nameLength), file.subarray(data, data + size));
    at += 46 + nameLength + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32);
  }
  return entries;
}

export interface ZipPart {
  name: string;
  bytes: Buffer | string;
  deflated?: boolean;
  /** What the directory says, whatever is true. */
  claims?: {
    bytes?: number;
    packedBytes?: number;
    crc?: number;
    method?: number;
    flags?: number;
    headerOffset?: number;
  };
  /** In its local header. */
  localName?: string;
}

/** A ZIP file as anybody may write it, which `large` gives the fields of ZIP64. */
export function zipFile(parts: readonly ZipPart[], { large = false, comment = "" } = {}): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes: content, deflated = false, claims = {}, localName = name } of parts) {
    const bytes = Buffer.from(content);
    const packed = deflated ? deflateRawSync(bytes) : bytes;
    const told = {
      bytes: bytes.length,
      packedBytes: packed.length,
      crc: crc32(bytes),
      headerOffset: offset,
      ...claims,
    };
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(claims.flags ?? 0x0800, 2);
    head.writeUInt16LE(claims.method ?? (deflated ? 8 : 0), 4);
    head.writeUInt32LE(told.crc, 10);
    head.writeUInt32LE(large ? 0xffff_ffff : told.packedBytes, 14);
    head.writeUInt32LE(large ? 0xffff_ffff : told.bytes, 18);
    head.writeUInt16LE(Buffer.byteLength(localName), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), head, Buffer.from(localName), packed]);
    const extra = large ? largeField([told.bytes, told.packedBytes, told.headerOffset]) : Buffer.alloc(0);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(large ? 0xffff_ffff : told.headerOffset, 10);
    head.writeUInt16LE(Buffer.byteLength(name), 22);
    head.writeUInt16LE(extra.length, 24);
    centrals.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), head, rest, Buffer.from(name), extra]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(large ? 0xffff_ffff : directory.length, 8);
  end.writeUInt32LE(large ? 0xffff_ffff : offset, 12);
  end.writeUInt16LE(Buffer.byteLength(comment), 16);
  const ends: Buffer[] = [Buffer.from("PK\x05\x06"), end, Buffer.from(comment)];
  if (large) ends.unshift(largeEnd(parts.length, directory.length, offset));
  return Buffer.concat([...locals, directory, ...ends]);
}

function largeField(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * values.length);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return field;
}

function largeEnd(count: number, bytes: number, offset: number): Buffer {
  const end = Buffer.alloc(76);
  end.write("PK\x06\x06", "latin1");
  end.writeBigUInt64LE(44n, 4);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(bytes), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  end.write("PK\x06\x07", 56, "latin1");
  end.writeBigUInt64LE(BigInt(offset + bytes), 64);
  end.writeUInt32LE(1, 72);
  return end;
}
