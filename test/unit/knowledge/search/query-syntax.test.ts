import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseQuery } from "../../../../shared/knowledge/search/query-syntax.ts";

describe("a query", () => {
  test.each([
    ["blue whales", { words: ["blue", "whales"], phrases: [], excluded: [], text: "blue whales" }],
    ['"blue whale" song', { words: ["song"], phrases: ["blue whale"], excluded: [], text: "blue whale song" }],
    ["whale -harpoon", { words: ["whale"], phrases: [], excluded: ["harpoon"], text: "whale" }],
    ['whale -"harpoon gun"', { words: ["whale"], phrases: [], excluded: ["harpoon gun"], text: "whale" }],
    ["state-of-the-art", { words: ["state-of-the-art"], phrases: [], excluded: [], text: "state-of-the-art" }],
    ["a - b", { words: ["a", "b"], phrases: [], excluded: [], text: "a b" }],
    [
      'unclosed "blue whale',
      { words: ["unclosed"], phrases: ["blue whale"], excluded: [], text: "unclosed blue whale" },
    ],
    ["-only -this", { words: [], phrases: [], excluded: ["only", "this"], text: "" }],
    ['?! "" -- "…"', { words: [], phrases: [], excluded: [], text: "" }],
  ])("%s", (query, parsed) => {
    expect(parseQuery(query)).toEqual(parsed);
  });

  test("of any text gives parts that PostgreSQL can hold", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 1000 }), (query) => {
        const { words, phrases, excluded, text } = parseQuery(query);
        for (const part of [...words, ...phrases, ...excluded, text]) {
          expect(part.isWellFormed()).toBe(true);
          expect(part).not.toContain("\0");
        }
      }),
    );
  });
});
