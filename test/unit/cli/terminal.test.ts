import { expect, it } from "vitest";
import { columnsOf, shortUrl } from "../../../cli/terminal.ts";

it.each([
  ["that fits stays whole", "https://a.example/b", 30, "https://a.example/b"],
  ["loses its scheme first", "https://a.example/b", 12, "a.example/b"],
  ["keeps host and end", "https://a.example/some/long/path/to/page-17", 24, "a.exampl…path/to/page-17"],
  ["of wide characters keeps to its columns", "https://a.example/日本語日本語日本語", 20, "a.exam…日本語日本語"],
])("a URL %s", (_, url, columns, shown) => {
  expect(shortUrl(url, columns)).toBe(shown);
  expect(columnsOf(shortUrl(url, columns))).toBeLessThanOrEqual(columns);
});
