/** What is found where the corpus is large, as the statistics of the test's own making tell. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { refreshCorpusStatistics } from "../../../../shared/knowledge/search/corpus-statistics.ts";
import { answerSearch } from "../../../../shared/knowledge/search/search.ts";
import type { SearchRequest } from "../../../../shared/knowledge/search/search-request.ts";
import { type TestDatabase, testDatabase } from "../../../services/index.ts";
import { addChunks, addPages } from "./corpus.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database.drop());

/** Of 100,000 chunks. */
async function pretend(counts: Record<string, number>): Promise<void> {
  const { sql } = database;
  await sql`insert into corpus_statistics (chunks, average_tokens) values (100000, 10)`;
  await sql`
    insert into lexeme_statistics (lexeme, chunks)
    select * from unnest(${Object.keys(counts)}::text[], ${Object.values(counts)}::int[])`;
}

const site = (name: string, ...chunks: string[]) => ({
  url: `https://${name}.example/`,
  domain: `${name}.example`,
  chunks,
});

async function find(query: string, request: Partial<SearchRequest> = {}) {
  const asked: SearchRequest = { query, mode: "keyword", limit: 10, ...request };
  const { results, total } = await answerSearch({ sql: database.sql, vectorSide: async () => null }, asked);
  return { found: results.map(({ content }) => content), total };
}

describe("a search of a large corpus finds", () => {
  test("what holds one of two words that are seldom found together", async () => {
    await addPages(database.sql, [site("a", "a car"), site("b", "an automobile"), site("c", "a boat")]);
    await pretend({ car: 5_000, automobil: 5_000, boat: 1_000 });
    expect((await find("car automobile")).found.toSorted()).toEqual(["a car", "an automobile"]);
    expect((await find("car automobile spaceship")).found).toHaveLength(2);
  });

  test("what passes a filter, though better ones do not", async () => {
    await addPages(database.sql, [
      site("x", "the budget of 2026", "a report"),
      site("y", "the budget report 2026"),
      site("z", "the budget report for 2026"),
    ]);
    await pretend({ budget: 20_000, report: 20_000, "2026": 20_000 });
    const ask = async (filter: SearchRequest["filter"] & object) =>
      (await find("budget report 2026", { filter })).found;
    const both = ["the budget of 2026", "a report"];
    expect(await ask({ domains: ["x.example"] })).toEqual(both);
    expect(await ask({ urlPrefix: "https://x.example/" })).toEqual(both);
    expect(await ask({ domains: ["none.example"] })).toEqual([]);
  });

  test("what holds a phrase and none of the other words", async () => {
    await addPages(database.sql, [site("a", "a walk in New York"), site("b", "quantum entanglement of a photon")]);
    await pretend({ quantum: 15_000, entangl: 15_000, photon: 15_000, new: 15_000, york: 15_000 });
    expect((await find('quantum entanglement photon "new york"')).found).toEqual(["a walk in New York"]);
  });

  test("what does not hold an excluded word, though all that hold the others do", async () => {
    await addPages(database.sql, [site("a", "insurance claim for a car"), site("b", "an insurance")]);
    await pretend({ insur: 20_000, claim: 20_000, car: 20_000 });
    expect((await find("insurance claim -car")).found).toEqual(["an insurance"]);
  });

  test("all of a small site, whatever its words are worth, and counts it", async () => {
    const chunks = Array.from({ length: 30 }, (_, at) => `water ${at}`);
    await addPages(database.sql, [site("wide", "water everywhere"), site("small", ...chunks)]);
    await pretend({ water: 60_000 });
    const { found, total } = await find("water", { filter: { domains: ["small.example"] }, limit: 100 });
    expect([new Set(found), total]).toEqual([new Set(chunks), { count: 30, exact: true }]);
  });

  test("a phrase with a stop word behind hundreds that hold its other words", async () => {
    const texts = Array.from({ length: 1_000 }, (_, at) => `vitamin C, vitamin D, vitamin E and vitamin ${at}`);
    await addChunks(database.sql, "https://list.example/", [...texts, "a list of what holds vitamin A in the kitchen"]);
    await pretend({ vitamin: 1_001 });
    expect((await find('"vitamin A"')).found).toEqual(["a list of what holds vitamin A in the kitchen"]);
  });

  test("the best for words that thousands hold, wherever they were indexed", async () => {
    const number = 20_000;
    const filler = (at: number) => `number ${at} of the lists, with as many words as the others around it have`;
    const texts = Array.from({ length: number }, (_, at) => `water and soil, ${filler(at)}`);
    const best = ["water water and again water in short", "soil beside soil, soil below soil", "water soil water soil"];
    const places = [0, number / 2, number - 1];
    for (const [at, place] of places.entries()) texts[place] = `${best[at]}, ${filler(place)}`;
    texts[number / 4] = "soil";
    await addChunks(database.sql, "https://list.example/", texts);
    await refreshCorpusStatistics(database.sql);
    const firstOf = async (query: string, count: number) =>
      (await find(query)).found.slice(0, count).map((text) => text.split(",")[0]);
    expect(await firstOf("water", 2)).toEqual([best[0], best[2]]);
    expect(await firstOf("soil", 3)).toEqual([best[1]?.split(",")[0], "soil", best[2]]);
    expect(await firstOf("soil water", 1)).toEqual([best[2]]);
  });
});
