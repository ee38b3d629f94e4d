import { expect, it } from "vitest";
import { columnsOf, createTerminal, shortUrl } from "../../../cli/terminal.ts";

it.each([
  ["that fits stays whole", "https://a.example/b", 30, "https://a.example/b"],
  ["loses its scheme first", "https://a.example/b", 12, "a.example/b"],
  ["keeps host and end", "https://a.example/some/long/path/to/page-17", 24, "a.exampl…path/to/page-17"],
  ["of wide characters keeps to its columns", "https://a.example/日本語日本語日本語", 20, "a.exam…日本語日本語"],
])("a URL %s", (_, url, columns, shown) => {
  expect(shortUrl(url, columns)).toBe(shown);
  expect(columnsOf(shortUrl(url, columns))).toBeLessThanOrEqual(columns);
});

it("is given no control characters of a page, in no command; a file gets them as they are", () => {
  const written = (isTTY: boolean): string => {
    let all = "";
    const terminal = createTerminal({ isTTY, write: (text) => (all += text) }, {});
    terminal.line(`${terminal.bold("T")} \x1b]0;title\x07a\tb\nc\x9b2J \x1b[8md\u202ee\r`);
    return all;
  };
  expect(written(true)).toBe("\x1b[1mT\x1b[22m  ]0;title a\tb\nc 2J  [8md e \n");
  expect(written(false)).toBe("T \x1b]0;title\x07a\tb\nc\x9b2J \x1b[8md\u202ee\r\n");
});

it("cuts rows of a list where a person looks at them, and leaves them whole where a program reads them", () => {
  const row = "x".repeat(200);
  const shown = (isTTY: boolean) => {
    let all = "";
    createTerminal({ isTTY, columns: 80, write: (text) => (all += text) }, {}).row(row);
    return all;
  };
  expect(shown(false)).toBe(`${row}\n`);
  expect(shown(true)).toBe(`${"x".repeat(79)}…\n`);
});
