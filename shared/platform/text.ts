/** Texts that fit where they are kept: in so many bytes of UTF-8, and in PostgreSQL. */

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

/** @returns as much of the text as `most` UTF-16 code units hold, without half a character or space at its end */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  return text
    .slice(0, most)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd();
}

/** Whether PostgreSQL can hold the text: it has no NUL, and no surrogate without its other half. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

/** @returns the text with U+FFFD for each code unit that PostgreSQL cannot hold, so that offsets into it stay exact */
export const storable = (text: string): string =>
  isStorable(text) ? text : text.toWellFormed().replaceAll("\0", "\uFFFD");
