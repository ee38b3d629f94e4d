import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import {
  prepareForSearches,
  refreshCorpusStatistics,
  settleKeywordIndex,
} from "../../../../shared/knowledge/search/corpus-statistics.ts";
import { search } from "../../../../shared/knowledge/search/search.ts";
import { readSearchVersion } from "../../../../shared/knowledge/search/search-version.ts";
import type { Sql } from "../../../../shared/platform/database/database.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { testDatabase } from "../../../services/index.ts";
import { addPages, constantEmbedder, listedVectors } from "./corpus.ts";

const page = (name: string, content: string, language = "en") => ({
  url: `https://site.example/${name}`,
  chunks: [content],
  language,
});
const ask = async (sql: Sql, query: string): Promise<string[]> => {
  const results = await search({ sql, vectorSide: async () => null }, { query, mode: "keyword", limit: 10 });
  return results.map(({ url }) => url.split("/").at(-1) ?? "");
};

/** The same database by one connection, whose statements are listed as they are sent. */
function listened(url: string): { sql: Sql; statements: string[] } {
  const statements: string[] = [];
  const bigint = { to: 20, from: [20], parse: Number, serialize: String };
  const sql = postgres(url, {
    max: 1,
    debug: (_connection, query) => statements.push(query.replaceAll(/\s+/g, " ").trim()),
    types: { bigint },
  }) as unknown as Sql;
  onTestFinished(() => sql.end());
  return { sql, statements };
}

test("of a corpus that has not changed no search asks again what another has asked", async () => {
  const database = await testDatabase();
  const ids = await addPages(database.sql, [
    page("pools", "Tide pools by the shore"),
    page("kelp", "Kelp by the shore"),
  ]);
  await refreshCorpusStatistics(database.sql);
  const { sql, statements } = listened(database.url);
  await ask(sql, "tides shore");
  statements.length = 0;
  expect(await ask(sql, "shore tide")).toEqual(["pools", "kelp"]);
  const words = ["begin", "select concat_ws", "savepoint", "select ranked.id", "select c.id", "commit"];
  expect(statements.map((text) => words.find((start) => text.startsWith(start)) ?? text)).toEqual(words);

  const side = { embedder: constantEmbedder, vectors: listedVectors(() => ids) };
  const hybrid = { query: "shore", mode: "hybrid", limit: 10 } as const;
  await search({ sql, vectorSide: async () => side }, hybrid);
  statements.length = 0;
  expect(await search({ sql, vectorSide: async () => side }, hybrid)).toHaveLength(2);
  expect(statements).toHaveLength(words.length + 2);
});

test("what is known of a corpus goes with any change of it", async () => {
  const { sql } = await testDatabase();
  await addPages(sql, [page("pools", "Tide pools by the shore")]);
  await refreshCorpusStatistics(sql);
  expect(await ask(sql, "cormorant")).toEqual([]);
  expect(await ask(sql, "Möwen")).toEqual([]);

  // unseen until its generation is swapped in
  const generationId = uuidv7();
  await addPages(sql, [page("birds", "A cormorant"), page("gulls", "Eine Möwe", "de")], {
    generationId,
    active: false,
  });
  expect(await ask(sql, "cormorant")).toEqual([]);
  expect(await ask(sql, "Möwen")).toEqual([]);
  await sql`update documents set generation_active = true where generation_id = ${generationId}`;
  expect(await ask(sql, "cormorant")).toEqual(["birds"]);
  expect(await ask(sql, "Möwen")).toEqual(["gulls"]);

  await sql`delete from documents where url like '%birds'`;
  expect(await ask(sql, "cormorant")).toEqual([]);
});

test("new statistics change what searches see", async () => {
  const { sql } = await testDatabase();
  await addPages(sql, [page("pools", "Tide pools by the shore"), page("kelp", "Kelp by the shore")]);
  await refreshCorpusStatistics(sql);
  const score = async () => {
    const [best] = await search({ sql, vectorSide: async () => null }, { query: "kelp", mode: "keyword", limit: 1 });
    return best?.score ?? 0;
  };
  const before = await score();
  const version = await readSearchVersion(sql);
  await sql`update corpus_statistics set average_tokens = 100`;
  expect(await score()).toBe(before);
  await refreshCorpusStatistics(sql);
  expect(await readSearchVersion(sql)).not.toBe(version);
  await sql`update corpus_statistics set average_tokens = 1`;
  expect(await score()).not.toBe(before);
});

test("what was indexed is moved into the index, so that no search reads it row by row", async () => {
  const { sql } = await testDatabase();
  await addPages(sql, [page("pools", "Tide pools by the shore")]);
  expect(await settleKeywordIndex(sql)).toBeGreaterThan(0);
  await addPages(sql, [page("kelp", "Kelp by the shore")]);
  await prepareForSearches(sql);
  expect(await settleKeywordIndex(sql)).toBe(0);
  expect(await ask(sql, "shore")).toHaveLength(2);
});
