/** Lets htmlparser2's tokenizer find the end of a text, a value or a script as fast as the machine compares. */
import type { Tokenizer } from "htmlparser2";

/** What the tokenizer keeps to itself: where it stands, and how it goes to the next of a character. */
interface Cursor {
  index: number;
  readonly buffer: string;
  fastForwardTo(code: number): boolean;
}

/**
 * Puts `indexOf` in the place of a loop over the characters, which takes a fifth of the time of parsing: most of a page
 * is scripts. Only for a tokenizer that is given the whole page at once.
 * @throws Error where the tokenizer has no such loop
 */
export function hasten(tokenizer: Tokenizer): Tokenizer {
  const cursor = tokenizer as unknown as Cursor;
  if (typeof cursor.fastForwardTo !== "function") throw new Error("htmlparser2's tokenizer has no fastForwardTo");
  cursor.fastForwardTo = fastForwardTo;
  return tokenizer;
}

function fastForwardTo(this: Cursor, code: number): boolean {
  const found = this.buffer.indexOf(String.fromCharCode(code), this.index + 1);
  this.index = found < 0 ? this.buffer.length - 1 : found;
  return found >= 0;
}
