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
