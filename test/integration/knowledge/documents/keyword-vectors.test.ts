import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keywordVectors } from "../../../../shared/knowledge/documents/keyword-vectors.ts";
import { type TestDatabase, testDatabase } from "../../../services/index.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

/** Each text with its vector and that of `chunk_fts`, as PostgreSQL writes them. */
async function compare(texts: string[]): Promise<{ text: string; made: string | null; wanted: string }[]> {
  return await database.sql.begin(async (tx) => {
    const vectors = await keywordVectors(tx, texts);
    return await tx<{ text: string; made: string | null; wanted: string }[]>`
      select t as text, v::tsvector::text as made, chunk_fts('', '', t)::text as wanted
      from unnest(${texts}::text[], ${vectors}::text[]) as x (t, v)`;
  });
}

/** What PostgreSQL's parser has rules for, and what `search_text` takes apart before it. */
const PARTS =
  "a the of Running runs don't x-y foo-bar-baz 42 -7 +5 3.14 1e5 1e-5 1e 0x1F v1.2 12:30 1,000 + - -- _ __init__ a_b ' \" ( ) , ; ! ? : // http:// www. example.com localhost:8080 a@b.com /usr/lib C++ ~ %20 # $ * = | [ ] { } ^ ` <b> </p> <!-- --> &amp; & é naïve Straße ß İ ı Ω я й א ไทย \u00a0 \u00ad \u2019 \u2014 \u0301 \u2028 \u0085 \u1680 \\ \\' ''".split(
    " ",
  );
const part = fc.oneof(fc.constantFrom(...PARTS, ".", "\t", "\n", "\v", "\f", "\r", " "), fc.string({ maxLength: 4 }));
const text = fc
  .tuple(fc.array(part, { maxLength: 20 }), fc.constantFrom("", " "))
  .map(([parts, between]) => parts.join(between).replaceAll("\0", ""));

test("a text gets the very vector that PostgreSQL makes of it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 20, maxLength: 60 }), async (texts) => {
      for (const { text, made, wanted } of await compare(texts)) expect([text, made]).toEqual([text, wanted]);
    }),
    { numRuns: 40 },
  );
});

test("a word has as many positions as PostgreSQL keeps", async () => {
  const [row] = await compare([`again and ${"again ".repeat(600)}`]);
  expect(row?.made).toBe(row?.wanted);
});

test("texts whose words have no spaces between them, and endless ones, are left to PostgreSQL", async () => {
  const rows = await compare(["日本語の文章", "well \u{1F30A} done", "word ".repeat(10_000), "plain"]);
  expect(rows.map(({ made }) => made)).toEqual([null, null, null, "'plain':1"]);
});

test("more words than are kept at once are forgotten, and come out the same", async () => {
  const texts = Array.from({ length: 4 }, (_, batch) =>
    Array.from({ length: 20 }, (_, row) =>
      Array.from({ length: 500 }, (_, at) => `w${((batch % 3) * 20 + row) * 500 + at}x`).join(" "),
    ),
  );
  for (const batch of texts) {
    for (const { made, wanted } of await compare(batch)) expect(made).toBe(wanted);
  }
});
