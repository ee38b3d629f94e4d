/** Reads the bytes of one entry of a ZIP file, as they come. */
import { Readable } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { dataOffset, type RangeReader, type ZipEntry } from "./zip-directory.ts";

/** The entry is not what the directory says of it. */
export class EntryFault extends Error {}

/** Deflated text comes to a tenth or so; what comes to less than this share is made to fill up its reader. */
const LARGEST_RATIO = 200;
/** Below this it harms nobody. */
const SMALL_BYTES = 64 * 1024 * 1024;

/**
 * @throws EntryFault as soon as it is seen: after bytes that may have been given already
 */
export async function* entryBytes(read: RangeReader, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  const { bytes, packedBytes, isDeflated, crc } = entry;
  if (bytes > Math.max(SMALL_BYTES, packedBytes * LARGEST_RATIO)) {
    throw new EntryFault(`it says that ${packedBytes} bytes unpack to ${bytes}, more than any file of text`);
  }
  const offset = await dataOffset(read, entry);
  if (offset === undefined) throw new EntryFault("its local header is not the one that the directory tells of");
  if (packedBytes === 0) return;
  let [sum, taken] = [0, 0];
  const packed = read(offset, packedBytes);
  for await (const chunk of isDeflated ? inflated(packed) : packed) {
    taken += chunk.length;
    if (taken > bytes) throw new EntryFault(`it unpacks to more than the ${bytes} bytes that the directory says`);
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (taken < bytes) throw new EntryFault(`it has ${taken} bytes, and not the ${bytes} that the directory says`);
  if (sum !== crc) throw new EntryFault("its checksum does not match its bytes");
}

async function* inflated(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const inflate = createInflateRaw();
  const source = Readable.from(packed);
  source.on("error", (error) => inflate.destroy(error));
  try {
    yield* source.pipe(inflate);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (!code.startsWith("Z_")) throw error;
    throw new EntryFault(`it cannot be decompressed: ${(error as Error).message}`, { cause: error });
  } finally {
    source.destroy();
    inflate.destroy();
  }
}
