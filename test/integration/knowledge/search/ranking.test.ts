/** What decides the order of results by keywords: each value of the formula moves a page of these above another. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { search } from "../../../../shared/knowledge/search/search.ts";
import { type TestDatabase, testDatabase } from "../../../services/index.ts";
import { addPages } from "./corpus.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database.drop());

const CORPUS = 100_000;
const AVERAGE = 50;

/** The text filled up to its length with words that stand nowhere else. */
const page = (name: string, text: string, length = AVERAGE) => {
  const words = text.split(" ");
  const filling = Array.from({ length: length - words.length }, (_, at) => `${name}${at}`);
  return { url: `https://${name}.example/`, chunks: [[...words, ...filling].join(" ")] };
};

/** The names of the pages, best first, in a corpus where words stand in so many chunks. */
async function order(query: string, counts: Record<string, number>, ...pages: ReturnType<typeof page>[]) {
  const { sql } = database;
  await addPages(sql, pages);
  await sql`insert into corpus_statistics (chunks, average_tokens) values (${CORPUS}, ${AVERAGE})`;
  await sql`
    insert into lexeme_statistics (lexeme, chunks)
    select * from unnest(${Object.keys(counts)}::text[], ${Object.values(counts)}::int[])`;
  const results = await search({ sql, vectorSide: async () => null }, { query, mode: "keyword", limit: 10 });
  return results.map(({ url }) => new URL(url).hostname.split(".")[0]);
}

test.each([
  ["ocean whale whale", ["whaler", "sailor"]],
  ["ocean whale ocean", ["sailor", "whaler"]],
  ["oceans ocean whale whales whaling", ["whaler", "sailor"]],
])("a word counts as often as the query has it: %s", async (query, expected) => {
  const pages = [page("sailor", "ocean"), page("whaler", "whale")];
  expect(await order(query, { ocean: 100, whale: 100 }, ...pages)).toEqual(expected);
});

test("the 48 rarest words of a long query count, not only the first of them", async () => {
  const words = Array.from({ length: 48 }, (_, at) => `term${at + 10}q`);
  const counts = Object.fromEntries(words.map((word) => [word, 100]));
  const pages = [
    page("first", words.slice(0, 20).join(" ")),
    page("others", words.slice(20).join(" ")),
    page("last", words.slice(-1).join(" ")),
  ];
  expect(await order(words.join(" "), counts, ...pages)).toEqual(["others", "first", "last"]);
});

describe("k1 is 1.2, so that", () => {
  // a word that stands three times is worth 3 (k1 + 1) / (3 + k1) times what it is worth once: 1.57
  const pages = [page("thrice", "heron heron heron"), page("both", "heron reed")];

  test("a word that stands thrice is worth more than once, and half of that beside it", async () => {
    // the second weighs .52 of the first
    expect(await order("heron reed", { heron: 1_000, reed: 9_124 }, ...pages)).toEqual(["thrice", "both"]);
  });

  test("it is worth less than once, and six tenths of that beside it", async () => {
    // the second weighs .62 of the first
    expect(await order("heron reed", { heron: 1_000, reed: 5_757 }, ...pages)).toEqual(["both", "thrice"]);
  });
});

describe("b is 0.75, so that", () => {
  // a word that stands twice is worth 2 (k1 + 1) / (2 + k1 (1 - b + b length / average))
  const short = page("short", "heron");

  test("twice in 2.2 times the length is worth more than once", async () => {
    const long = page("long", "heron heron", 2.2 * AVERAGE);
    expect(await order("heron", { heron: 1_000 }, short, long)).toEqual(["long", "short"]);
  });

  test("twice in 2.6 times the length is worth less than once", async () => {
    const long = page("long", "heron heron", 2.6 * AVERAGE);
    expect(await order("heron", { heron: 1_000 }, short, long)).toEqual(["short", "long"]);
  });
});
