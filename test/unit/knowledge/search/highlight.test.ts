import { expect, test } from "vitest";
import { seededRandom } from "../../../../bench/zipf-corpus.ts";
import { highlight } from "../../../../shared/knowledge/search/highlight.ts";
import type { Sql } from "../../../../shared/platform/database/database.ts";

/** Each word is its own stem. */
const sql = ((_: TemplateStringsArray, dictionaries: string[], words: string[]) =>
  Promise.resolve(words.map((word, at) => ({ dictionary: dictionaries[at], word, stems: [word] })))) as unknown as Sql;

const PARTS = ["fox", "Fox", "c", "x1", "3", "14", " ", " ", "\n", "-", "_", ".", ",", "'", ":", "+", "++", "#", "<"];

test("a text in ASCII is marked as the same text is beside other characters", async () => {
  const random = seededRandom(11);
  let marked = 0;
  for (let turn = 0; turn < 400; turn++) {
    const text = Array.from({ length: 40 }, () => PARTS[Math.floor(random() * PARTS.length)]).join("");
    const marks = { lexemes: new Set(["fox", "c++", "c#", "x1", "3.14", "foxx1", "x1_c"]), phrases: [" fox c "] };
    const [plain] = await highlight(sql, [{ text, language: "en" }], marks);
    const [beside] = await highlight(sql, [{ text: `${text} é`, language: "en" }], marks);
    expect(plain, text).toEqual(beside);
    marked += plain?.length ?? 0;
  }
  expect(marked).toBeGreaterThan(500);
});
