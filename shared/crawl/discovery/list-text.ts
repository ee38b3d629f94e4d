/**
 * Bytes of a list to text, piece by piece: by byte order mark, zero bytes, the header's charset, the XML declaration;
 * else UTF-8.
 */

/** Enough for any XML declaration. */
const SNIFF_BYTES = 256;
const DECLARED = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.:-]*)["']/;

/** @param charset of the Content-Type */
export async function* decoded(bytes: AsyncIterable<Uint8Array>, charset: string | undefined): AsyncGenerator<string> {
  let start: Uint8Array | undefined = new Uint8Array(0);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  try {
    for await (const piece of bytes) {
      if (decoder !== undefined) {
        yield decoder.decode(piece, { stream: true });
        continue;
      }
      start = Buffer.concat([start as Uint8Array, piece]);
      if (start.length < SNIFF_BYTES) continue;
      decoder = new TextDecoder(encodingOf(start, charset));
      yield decoder.decode(start, { stream: true });
      start = undefined;
    }
  } catch (error) {
    // what came before it counts, without the bytes of a character that was cut
    if (start !== undefined) yield new TextDecoder(encodingOf(start, charset)).decode(start, { stream: true });
    throw error;
  }
  if (decoder === undefined) yield new TextDecoder(encodingOf(start as Uint8Array, charset)).decode(start);
  else yield decoder.decode();
}

/** Label that `TextDecoder` knows. */
function encodingOf(start: Uint8Array, charset: string | undefined): string {
  const [a, b, c] = start;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  // markup without a mark: `<` and a zero byte, or the other way round
  if (a === 0x3c && b === 0) return "utf-16le";
  if (a === 0 && b === 0x3c) return "utf-16be";
  const ascii = Buffer.from(start.buffer, start.byteOffset, Math.min(start.length, SNIFF_BYTES)).toString("latin1");
  for (const label of [charset, DECLARED.exec(ascii)?.[1]]) {
    const known = label === undefined ? undefined : knownEncoding(label);
    // it was just read as ASCII
    if (known !== undefined && !known.startsWith("utf-16")) return known;
  }
  return "utf-8";
}

function knownEncoding(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}
