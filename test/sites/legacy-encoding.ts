/**
 * Text in a legacy encoding, from TextDecoder's own tables: it has no encoder.
 * @throws Error for what the encoding lacks
 */
export function encodeAs(text: string, charset: string): Uint8Array {
  if (charset.toLowerCase() === "utf-8") return Buffer.from(text);
  if (charset.toLowerCase() === "utf-16le") return Buffer.from(text, "utf16le");
  const decoder = new TextDecoder(charset, { fatal: true });
  const table = new Map<string, number[]>();
  const learn = (...bytes: number[]): void => {
    try {
      const character = decoder.decode(Uint8Array.from(bytes));
      if ([...character].length === 1 && !table.has(character)) table.set(character, bytes);
    } catch {
      // no character there
    }
  };
  for (let lead = 0; lead < 256; lead += 1) learn(lead);
  for (let lead = 0x81; lead < 0xff; lead += 1) for (let trail = 0x40; trail < 0xff; trail += 1) learn(lead, trail);
  return Uint8Array.from(
    [...text].flatMap((character) => {
      const bytes = table.get(character);
      if (bytes === undefined) throw new Error(`${charset} has no ${character}`);
      return bytes;
    }),
  );
}
