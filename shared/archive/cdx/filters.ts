/** Filters of CDX queries: `[!][=|~]field:expression`. */
import { RE2JS } from "re2js";
import { patternFault } from "../../crawl/urls/patterns.ts";
import { type CdxField, fieldOf } from "./cdx-line.ts";

export interface CaptureFilter {
  field: CdxField;
  /** The regular expression that it looks for; null: none. */
  pattern: string | null;
  admits(value: string): boolean;
}

/**
 * `=` compares the whole value, `~` looks for the regular expression (RE2) at its beginning; without either, the value
 * holds the text, or is as a whole what the expression describes. `!` turns any of them around.
 * @throws UnknownCdxField
 * @throws TypeError where it is no filter, or its expression is none of RE2
 */
export function parseFilter(text: string): CaptureFilter {
  const [, not, kind, name = "", expression = ""] = /^(!?)([=~]?)([^:]*):(.*)$/s.exec(text) ?? [];
  if (not === undefined) throw new TypeError("is no [!][=|~]field:expression");
  const field = fieldOf(name);
  const { pattern, matches } = matcher(kind ?? "", expression);
  return { field, pattern, admits: (value) => matches(value) !== (not === "!") };
}

function matcher(
  kind: string,
  expression: string,
): Pick<CaptureFilter, "pattern"> & { matches(value: string): boolean } {
  if (kind === "=") return { pattern: null, matches: (value) => value === expression };
  const fault = patternFault(expression);
  if (kind === "~") {
    if (fault !== null) throw new TypeError(`has an expression that cannot be used: ${fault}`);
    const compiled = RE2JS.compile(expression);
    return { pattern: expression, matches: (value) => compiled.matcher(value).lookingAt() };
  }
  // all expressions are texts, and few texts are expressions
  if (fault !== null || !/[[\]().*+?|\\^$]/.test(expression)) {
    return { pattern: null, matches: (value) => value.includes(expression) };
  }
  const compiled = RE2JS.compile(expression);
  return {
    pattern: expression,
    matches: (value) => value.includes(expression) || compiled.matcher(value).matches(),
  };
}
