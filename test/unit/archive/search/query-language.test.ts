import fc from "fast-check";
import { expect, it } from "vitest";
import { type Expression, parseArchiveQuery } from "../../../../shared/archive/search/query-language.ts";
import { distance } from "../../../../shared/archive/search/similar-words.ts";

const pieces = fc.constantFrom(
  "AND",
  "OR",
  "NOT",
  "-",
  "(",
  ")",
  '"',
  "title:",
  "url:",
  "salt",
  "not",
  "é",
  " ",
  "-a",
  "“",
  "\0",
  "\ud800",
);
const queries = fc.oneof(
  fc.string(),
  fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join(" ")),
  fc.array(pieces).map((parts) => parts.join("")),
);

function termsOf(expression: Expression): string[] {
  if (expression.kind === "term") return [expression.text];
  return expression.kind === "not" ? termsOf(expression.of) : expression.of.flatMap(termsOf);
}

it("reads every query, and every term of it says something", () => {
  fc.assert(
    fc.property(queries, (query) => {
      const read = parseArchiveQuery(query);
      const terms =
        read.mode === "boolean"
          ? termsOf(read.expression)
          : read.mode === "text"
            ? [...read.words, ...read.phrases]
            : [];
      for (const term of terms) expect(term).toMatch(/[\p{L}\p{N}\p{RI}\p{Extended_Pictographic}]/u);
    }),
  );
});

it("takes no word in small letters for an operator, whatever stands around it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("and", "or", "not", "And", "Or", "Not", "eat", "salt"), { minLength: 1 }),
      (words) => {
        expect(parseArchiveQuery(words.join(" "))).toEqual({ mode: "text", words, phrases: [] });
      },
    ),
  );
});

it("nests as deep as a query is long", () => {
  expect(parseArchiveQuery(`${"(".repeat(200)}salt OR pepper`).mode).toBe("boolean");
  expect(parseArchiveQuery(`${"-(".repeat(20)}salt${" OR pepper)".repeat(20)}`).mode).toBe("boolean");
});

it.each([
  ["vacine", "vaccine", 1],
  ["Impfugn", "Impfung", 1],
  ["salt", "salt", 0],
  ["salt", "pepper", 6],
])("tells how far %s is from %s", (one, other, far) => {
  expect(distance(one, other, 2)).toBe(far);
});
