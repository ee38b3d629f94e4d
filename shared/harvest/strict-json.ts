/**
 * JSON that a language model wrote, read without leniency: what two readers could understand in two ways is refused.
 */

/** Far beyond any query, in characters. */
export const MAX_LENGTH = 32 * 1024;
/** The query itself is three deep. */
const MAX_DEPTH = 8;

export class StrictJsonError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "StrictJsonError";
  }
}

/**
 * As `JSON.parse`, which keeps the last of several fields of one name and says nothing of it.
 * @throws StrictJsonError: no JSON, a field that stands twice, too long, too deep
 */
export function parseStrictJson(text: string): unknown {
  if (text.length > MAX_LENGTH) {
    throw new StrictJsonError(`the answer is longer than ${MAX_LENGTH} characters`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new StrictJsonError("the answer is not JSON, and JSON alone");
  }
  checkStructure(text);
  return value;
}

/** Strings with the colon that makes them a field, and brackets. */
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g;

/** @param text valid JSON */
function checkStructure(text: string): void {
  const open: Set<string>[] = [];
  for (const [token, string, colon] of text.matchAll(TOKENS)) {
    if (token === "{" || token === "[") {
      open.push(new Set());
      if (open.length > MAX_DEPTH) throw new StrictJsonError(`the answer is nested more than ${MAX_DEPTH} deep`);
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (colon !== undefined) {
      // escapes spell one name in several ways
      const name: string = JSON.parse(string ?? "");
      const names = open.at(-1);
      if (names?.has(name)) throw new StrictJsonError(`field ${excerpt(name)} stands twice`);
      names?.add(name);
    }
  }
}

const EXCERPT_LENGTH = 60;

/** Text of a model inside a message: short, and fit to be shown and stored. */
export function excerpt(text: string): string {
  const short = text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;
  return short.toWellFormed().replaceAll(/\p{Cc}/gu, "\uFFFD");
}
