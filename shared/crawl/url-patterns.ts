/** Patterns of URLs, in RE2 syntax: found in time linear in the URL, whatever the pattern. */
import { RE2JS, RE2JSException } from "re2js";

export const MAX_PATTERNS = 50;
/** Of one pattern, in characters. */
export const MAX_PATTERN_LENGTH = 500;
/** Instructions of a compiled pattern: what a character of a URL costs at the most. RE2 itself allows a thousand repeats. */
const MAX_PROGRAM_SIZE = 1_000;

/** What is wrong with the pattern, or null. */
export function patternFault(pattern: string): string | null {
  try {
    const size = RE2JS.compile(pattern).programSize();
    return size > MAX_PROGRAM_SIZE ? `it is too large (${size} instructions, at most ${MAX_PROGRAM_SIZE})` : null;
  } catch (error) {
    if (error instanceof RE2JSException) return error.message;
    throw error;
  }
}

/**
 * Whether any of the patterns is found anywhere in a text.
 * @throws RE2JSException where a pattern is not of RE2's syntax
 */
export function compilePatterns(patterns: readonly string[]): (text: string) => boolean {
  const compiled = patterns.map((pattern) => RE2JS.compile(pattern));
  return (text) => compiled.some((each) => each.test(text));
}
