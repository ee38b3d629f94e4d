import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { analyserOf } from "../../../../shared/knowledge/analysis/analysers.ts";
import { normalizeText } from "../../../../shared/knowledge/analysis/folding.ts";
import { keywordVectors } from "../../../../shared/knowledge/analysis/keyword-vectors.ts";
import { lexemesOf } from "../../../../shared/knowledge/analysis/lexemes.ts";
import { tokensOf } from "../../../../shared/knowledge/analysis/tokens.ts";
import { type TestDatabase, testDatabase } from "../../../services/index.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

/** Each text with its vector, and the one of its tokens read at once, as PostgreSQL writes them. */
async function compare(texts: string[], language = "en"): Promise<{ text: string; made: string; wanted: string }[]> {
  return await database.sql.begin(async (tx) => {
    const analyser = analyserOf(language);
    const vectors = await keywordVectors(
      tx,
      texts.map((text) => ({ text, language })),
    );
    const tokens = texts.map((text) => tokensOf(normalizeText(text), analyser.locale).tokens);
    const lexemes = await lexemesOf(
      tx,
      tokens.flat().map((token) => ({ token, analyser })),
    );
    let next = 0;
    const wanted = tokens.map((some) =>
      some.flatMap(({ place }) => (lexemes[next++] ?? []).map((each) => `${quoted(each)}:${place + 1}`)).join(" "),
    );
    return await tx<{ text: string; made: string; wanted: string }[]>`
      select t as text, v::tsvector::text as made, w::tsvector::text as wanted
      from unnest(${texts}::text[], ${vectors}::text[], ${wanted}::text[]) as x (t, v, w)`;
  });
}

const quoted = (lexeme: string) => `'${lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;

/** What joins and separates words, in several scripts. */
const PARTS =
  "a the of Running runs don't x-y foo-bar-baz 42 -7 +5 3.14 1e5 1e-5 1e 0x1F v1.2 12:30 1,000 + - -- _ __init__ a_b ' \" ( ) , ; ! ? : // http:// www. example.com localhost:8080 a@b.com /usr/lib C++ ~ %20 # $ * = | [ ] { } ^ ` <b> </p> <!-- --> &amp; & é naïve Straße ß İ ı Ω я й א ไทย日本語 👍🏽 İstanbul x.y,z 1,000.5 v1.2.3 C# \u00a0 \u00ad \u2019 \u2014 \u0301 \u2028 \u0085 \u1680 \\ \\' ''".split(
    " ",
  );
const part = fc.oneof(fc.constantFrom(...PARTS, ".", "\t", "\n", "\v", "\f", "\r", " "), fc.string({ maxLength: 4 }));
const text = fc
  .tuple(fc.array(part, { maxLength: 20 }), fc.constantFrom("", " "))
  .map(([parts, between]) => parts.join(between).replaceAll("\0", ""));

test("words that are remembered make the very vector of the text read at once", async () => {
  const languages = fc.constantFrom("en", "de", "tr", "ar", "vi", "th", "und");
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 20, maxLength: 60 }), languages, async (texts, language) => {
      for (const { text, made, wanted } of await compare(texts, language)) expect([text, made]).toEqual([text, wanted]);
    }),
    { numRuns: 40 },
  );
});

test("plain words of a language get the lexemes that PostgreSQL's own analysis has for them", async () => {
  const texts = {
    english: ["en", "The whales were singing happily in the deepest oceans of these worlds"],
    german: ["de", "Die Kinder spielten gestern mit ihren neuen Spielzeugen im Garten"],
    russian: ["ru", "Красивые города стояли на берегах большой реки"],
    spanish: ["es", "Los perros corren por las calles de mi ciudad"],
  } as const;
  for (const [dictionary, [language, text]] of Object.entries(texts)) {
    const [vector = ""] = await keywordVectors(database.sql, [{ text, language }]);
    const [row] = await database.sql`
      select ${vector}::tsvector::text as made, to_tsvector(${`pg_catalog.${dictionary}`}::regconfig, ${text})::text as wanted`;
    expect(row?.["made"]).toBe(row?.["wanted"]);
  }
});

test("a word has as many positions as PostgreSQL keeps", async () => {
  const [row] = await compare([`again and ${"again ".repeat(600)}`]);
  expect(row?.made).toBe(row?.wanted);
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
