/** Texts as they may be stored: of bounded size, measured in bytes of UTF-8, and without what PostgreSQL refuses. */

/** Replaces NUL and lone surrogates by U+FFFD, so that the length in UTF-16 code units stays. */
export function storable(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", "\uFFFD") : wellFormed;
}

/** @returns the text, or as many of its characters as fit `maxBytes`: never a part of a code point */
export function cutText(text: string, maxBytes: number): { text: string; cut: boolean } {
  // a UTF-16 code unit takes three bytes at the most
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return { text, cut: false };
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return { text: text.slice(0, read), cut: true };
}
