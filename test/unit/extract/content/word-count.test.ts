import { expect, test } from "vitest";
import { countWords } from "../../../../shared/extract/content/word-count.ts";

test.each([
  ["", 0],
  ["  \n ", 0],
  ["The tide, at last.", 4],
  ["one\u00a0two\tthree\nfour", 4],
  ["e-mail isn't two words", 4],
  ["潮が流木を運ぶ。", 5],
  ["潮水 and driftwood", 3],
])("%j has %i words", (text, words) => {
  expect(countWords(text)).toBe(words);
});
