import { crc32 } from "node:zlib";

/**
 * Of the form of a key, with its checksum, and nobody's.
 * @param text as many letters as wanted of its 43
 */
export function unknownKey(text = "x"): string {
  const secret = `sl_${text.padStart(43, text.slice(0, 1))}`;
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(secret));
  return secret + sum.toString("base64url");
}
