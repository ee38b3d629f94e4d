/** This system's own index as a provider, over a real database. */
import { expect, it } from "vitest";
import { ownSearch } from "../../../functions/harvest-api/own-search.ts";
import { expandPlaceholders } from "../../../shared/harvest/expansion.ts";
import { checkNeutralQuery } from "../../../shared/harvest/query-schema.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { testDatabase } from "../../services/index.ts";
import { addPages, constantEmbedder, listedVectors } from "../knowledge/search/corpus.ts";

const NOW = Date.UTC(2026, 10, 28, 9);
const PAGES = {
  "https://old.example.eu/a": ["2026-11-01T00:00:00Z", "The climate report of the year"],
  "https://example.eu/b": ["2026-11-28T08:00:00Z", "A climate report on weather"],
  "https://notexample.eu/c": ["2026-11-27T23:59:59Z", "Weather, climate and no more"],
  "https://example.com/d": ["2026-11-21T12:00:00Z", "The climate report, again"],
};

async function found(sql: Sql, query: object, want = 10): Promise<string[]> {
  const vectors = listedVectors(() => []);
  const search = ownSearch({ sql, vectorSide: async () => ({ embedder: constantEmbedder, vectors }) });
  const { urls } = await search(expandPlaceholders(checkNeutralQuery(query), NOW), want);
  return urls.map((url) => new URL(url).pathname.slice(1)).sort();
}

it("gives the pages that the query asks for", async () => {
  const { sql } = await testDatabase();
  await addPages(
    sql,
    Object.entries(PAGES).map(([url, [, text]]) => ({ url, chunks: [text as string] })),
  );
  for (const [url, [at]] of Object.entries(PAGES))
    await sql`update documents set crawled_at = ${at as string} where url = ${url}`;
  const climate = (filters: object) => found(sql, { keywords: ["climate"], filters });

  expect(await climate({}), "all").toEqual(["a", "b", "c", "d"]);
  expect(await climate({ date_after: "{YESTERDAY}" }), "from a day on").toEqual(["b", "c"]);
  expect(await climate({ date_before: "2026-11-21" }), "up to a day, which counts").toEqual(["a", "d"]);
  expect(await climate({ date_after: "{LAST_WEEK_START}", date_before: "{YESTERDAY}" }), "between").toEqual(["c", "d"]);
  expect(await climate({ sites: ["example.eu"] }), "a site and those below").toEqual(["a", "b"]);
  expect(await climate({ sites: [".eu"] }), "a suffix").toEqual(["a", "b", "c"]);
  expect(await found(sql, { keywords: ["climate report"] }), "a phrase").toEqual(["a", "b", "d"]);
  expect(await found(sql, { keywords: ["climate report", "weather"] }), "both").toEqual(["b"]);
  expect(await found(sql, { keywords: ["year", "weather"], boolean: "OR" }), "one or the other").toEqual([
    "a",
    "b",
    "c",
  ]);
  expect(await found(sql, { keywords: ["climate"] }, 2), "no more than wanted").toHaveLength(2);
});

it("fails for no keyword, whatever it is made of", async () => {
  const { sql } = await testDatabase();
  await addPages(sql, [{ url: "https://a.example/a", chunks: ["the words"] }]);
  const odd = ["...", "-", "the", "(", "*", "!", 'a" OR b', '"b', "日本語", "x".repeat(200), "a\\", "OR", ":*", "'"];
  for (const boolean of ["AND", "OR"]) {
    for (const keyword of odd) {
      await expect(found(sql, { keywords: [keyword, "b"], boolean }), keyword).resolves.toBeInstanceOf(Array);
    }
    await expect(found(sql, { keywords: ["..."], boolean })).resolves.toEqual([]);
  }
});
