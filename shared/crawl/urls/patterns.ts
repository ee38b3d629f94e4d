/**
 * Compiles patterns of URLs, in RE2 syntax: they are found in time linear in the URL, whatever the pattern. At worst a
 * character of a URL costs some 20 ns for each instruction of the patterns; their number of instructions is bounded for
 * that reason.
 */
import { RE2JS, RE2JSException } from "re2js";

export const MAX_PATTERNS = 50;
/** Of one pattern, in characters. */
export const MAX_PATTERN_LENGTH = 500;
/**
 * Instructions of a compiled pattern: what a character of a URL costs at the most. RE2 itself allows a thousand
 * repeats.
 */
const MAX_PROGRAM_SIZE = 1_000;
/** Of all patterns of a list: a page with hundreds of long links is checked within the time of one message. */
const MAX_TOTAL_SIZE = 1_500;

/** What is wrong with the pattern, or null. */
export function patternFault(pattern: string): string | null {
  const size = sizeOf(pattern);
  return typeof size === "string" ? size : sizeFault(size);
}

/**
 * What is wrong with the patterns of a list, each with its place; the first that is too much for the list is the last.
 */
export function patternFaults(patterns: readonly string[]): { index: number; fault: string }[] {
  const faults: { index: number; fault: string }[] = [];
  let total = 0;
  for (const [index, pattern] of patterns.entries()) {
    const size = sizeOf(pattern);
    const fault = typeof size === "string" ? size : sizeFault(size);
    if (fault !== null) faults.push({ index, fault });
    if (typeof size === "number" && fault === null) total += size;
    if (total > MAX_TOTAL_SIZE) {
      faults.push({
        index,
        fault: `up to here the list is too large (${total} instructions, at most ${MAX_TOTAL_SIZE})`,
      });
      break;
    }
  }
  return faults;
}

const sizeFault = (size: number): string | null =>
  size > MAX_PROGRAM_SIZE ? `it is too large (${size} instructions, at most ${MAX_PROGRAM_SIZE})` : null;

/** In instructions; or what is wrong with the pattern. */
function sizeOf(pattern: string): number | string {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch (error) {
    if (error instanceof RE2JSException) return error.message;
    throw error;
  }
}

/**
 * Whether any of the patterns is found anywhere in a URL, as it is or as people read it: `/größe` and
 * `/gr%C3%B6%C3%9Fe` are found in both.
 * @throws RE2JSException where a pattern is not of RE2's syntax
 */
export function compilePatterns(patterns: readonly string[]): (url: string) => boolean {
  const compiled = patterns.map((pattern) => RE2JS.compile(pattern));
  // `test` would build an automaton, which for some patterns has a state for every character: megabytes and five times
  // the time
  const found = (text: string): boolean => compiled.some((each) => each.matcher(text).find());
  return (url) => {
    if (found(url)) return true;
    const read = readableUrl(url);
    return read !== url && found(read);
  };
}

/** With the characters beyond ASCII that are percent-encoded in it as UTF-8. Whatever has a meaning in URLs stays. */
function readableUrl(url: string): string {
  return url.replaceAll(/(?:%[89a-f][0-9a-f])+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}
