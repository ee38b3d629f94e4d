/** Cuts texts to a bounded size, measured in bytes of UTF-8. */

/**
 * Cuts a text to `maxBytes`.
 * @returns as many of its characters as fit: never a part of a code point
 */
export function cutText(text: string, maxBytes: number): { text: string; cut: boolean } {
  // a UTF-16 code unit takes three bytes at the most
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return { text, cut: false };
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return { text: text.slice(0, read), cut: true };
}
