import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type SearchResult, showResult, snippet } from "../../../cli/search-view.ts";
import { columnsOf, createTerminal } from "../../../cli/terminal.ts";

const result = (changes: Partial<SearchResult> = {}): SearchResult => ({
  url: "https://a.example/page",
  title: "A page",
  content: "The quick brown fox jumps over the lazy dog",
  score: 0.5,
  section_header: null,
  highlights: [[10, 15]],
  ...changes,
});

function shown(given: SearchResult, { isTTY = false, columns = 80, env = {} } = {}): string {
  const written: string[] = [];
  const terminal = createTerminal({ isTTY, columns, write: (piece) => written.push(piece) }, env);
  showResult(terminal, 1, given);
  return written.join("");
}

it("marks the matched words with colours on a terminal", () => {
  expect(shown(result(), { isTTY: true })).toContain("\x1b[1m\x1b[33mbrown\x1b[39m\x1b[22m");
});

it.each([
  ["into a pipe", { isTTY: false }],
  ["with NO_COLOR", { isTTY: true, env: { NO_COLOR: "1" } }],
  ["on a dumb terminal", { isTTY: true, env: { TERM: "dumb" } }],
])("writes no escape sequence %s", (_, options) => {
  expect(shown(result(), options)).not.toContain("\x1b");
});

it("marks a match inside a word", () => {
  const pieces = snippet(result({ content: "unbrowned", highlights: [[2, 7]] }), 40);
  expect(pieces).toEqual([
    [
      { text: "un", matched: false },
      { text: "brown", matched: true },
      { text: "ed", matched: false },
    ],
  ]);
});

it("shows the passage with most of the matches", () => {
  const filler = "word ".repeat(200);
  const content = `${filler}needle ${filler}needle needle ${filler}`;
  const highlights = [...content.matchAll(/needle/g)].map(({ index }): [number, number] => [index, index + 6]);
  const matched = snippet(result({ content, highlights }), 60)
    .flat()
    .filter((piece) => piece.matched);
  expect(matched).toHaveLength(2);
});

it("lets no page steer the terminal", () => {
  const hostile = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202egnp.exe";
  const text = shown(
    result({ title: hostile, url: `https://a.example/${hostile}`, content: hostile, section_header: hostile }),
  );
  // newlines are ours
  expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
});

it("never writes a line wider than the terminal, whatever the page holds", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 400 });
  fc.assert(
    fc.property(text, text, fc.integer({ min: 40, max: 100 }), fc.nat(300), (title, content, columns, start) => {
      const output = shown(result({ title, content, highlights: [[start, start + 20]] }), { isTTY: true, columns });
      for (const line of stripVTControlCharacters(output).split("\n"))
        expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    }),
  );
});
