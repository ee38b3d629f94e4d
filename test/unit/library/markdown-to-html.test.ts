import { expect, it } from "vitest";
import { markdownToHtml } from "../../../shared/library/markdown-to-html.ts";

const DEPTH = 10_000;
const wordsOf = (html: string): string[] => html.replace(/<[^>]*>/g, " ").match(/\w+/g) ?? [];

it.each([
  ["lists on a line", `${"- ".repeat(DEPTH)}end`, ["end"]],
  ["ordered lists", `${"1) ".repeat(DEPTH)}end`, expect.arrayContaining(["end"])],
  ["quotations", `${">".repeat(DEPTH)} end`, ["end"]],
  ["lists in quotations", `${"> - ".repeat(DEPTH / 2)}end`, ["end"]],
  [
    "lists by their indents",
    Array.from({ length: 600 }, (_, at) => `${"  ".repeat(at)}- w${at}`).join("\n"),
    Array.from({ length: 600 }, (_, at) => `w${at}`),
  ],
  ["emphases that are closed", `${"*a ".repeat(DEPTH / 2)}end${" b*".repeat(DEPTH / 2)}`, countOf("a", "end", "b")],
  ["strong emphases", `${"**a ".repeat(DEPTH / 2)}end${" b**".repeat(DEPTH / 2)}`, countOf("a", "end", "b")],
  ["deletions", `${"~~a ".repeat(DEPTH / 2)}end${" b~~".repeat(DEPTH / 2)}`, countOf("a", "end", "b")],
])("loses no text of %s in one another, and nests no deeper than it may", (_, markdown, words) => {
  const html = markdownToHtml(markdown);
  expect(wordsOf(html.replaceAll("&gt;", " "))).toEqual(words);
  let [depth, deepest] = [0, 0];
  for (const [tag] of html.matchAll(/<\/?(?:ul|ol|li|blockquote|p|em|strong|del)\b/g)) {
    depth += tag.startsWith("</") ? -1 : 1;
    deepest = Math.max(deepest, depth);
  }
  expect(deepest).toBeLessThan(100);
});

it("reads what people nest as they mean it", () => {
  const nested = Array.from({ length: 20 }, (_, at) => `${"  ".repeat(at)}- w${at}`).join("\n");
  expect(markdownToHtml(nested).match(/<ul>/g)).toHaveLength(20);
  expect(markdownToHtml("> > a *b **c** d*")).toContain("<em>b <strong>c</strong> d</em>");
});

function countOf(first: string, middle: string, last: string): string[] {
  return [...Array(DEPTH / 2).fill(first), middle, ...Array(DEPTH / 2).fill(last)];
}
