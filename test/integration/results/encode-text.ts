/** Text in the encodings of the web, which Node only decodes: the decoder, turned round. */

const tables = new Map<string, Map<string, Buffer>>();

/** @param charset as WHATWG names it: UTF-8, UTF-16LE, UTF-16BE, or one whose characters take one or two bytes */
export function encodeText(text: string, charset: string): Buffer {
  if (charset === "UTF-8") return Buffer.from(text);
  if (charset.startsWith("UTF-16")) {
    const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
    return charset === "UTF-16LE" ? bytes : bytes.swap16();
  }
  const table = tables.get(charset) ?? tableOf(charset);
  tables.set(charset, table);
  return Buffer.concat(
    Array.from(text, (character) => {
      const bytes = table.get(character);
      if (bytes === undefined) throw new RangeError(`${charset} has no ${character}`);
      return bytes;
    }),
  );
}

function tableOf(charset: string): Map<string, Buffer> {
  const decoder = new TextDecoder(charset, { fatal: true });
  const table = new Map<string, Buffer>();
  const add = (bytes: Buffer): void => {
    try {
      const character = decoder.decode(bytes);
      if ([...character].length === 1 && !table.has(character)) table.set(character, bytes);
    } catch {
      // no character of this encoding
    }
  };
  for (let byte = 0; byte < 256; byte++) add(Buffer.from([byte]));
  for (let lead = 0x81; lead < 0xff; lead++)
    for (let trail = 0x40; trail < 0xff; trail++) add(Buffer.from([lead, trail]));
  return table;
}
