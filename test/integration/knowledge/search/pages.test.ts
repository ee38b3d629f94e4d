import { beforeEach, describe, expect, test } from "vitest";
import { refreshCorpusStatistics } from "../../../../shared/knowledge/search/corpus-statistics.ts";
import { answerSearch } from "../../../../shared/knowledge/search/search.ts";
import type { SearchRequest } from "../../../../shared/knowledge/search/search-request.ts";
import type { Sql } from "../../../../shared/platform/database/database.ts";
import { RetryableError } from "../../../../shared/platform/errors.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { testDatabase } from "../../../services/index.ts";
import { addPages, constantEmbedder, listedVectors } from "./corpus.ts";

const GENERATION = uuidv7();
const COUNT = 45;
const MODES = ["hybrid", "vector", "keyword"] as const;

let sql: Sql;
let ids: string[];
beforeEach(async () => {
  ({ sql } = await testDatabase({ poolSize: 4 }));
  const pages = Array.from({ length: COUNT }, (_, at) => ({
    url: `https://site.example/${at}`,
    chunks: [`tide ${"tide ".repeat(at % 7)}number ${at}`],
  }));
  ids = await addPages(sql, pages, { generationId: GENERATION });
});

function ask(request: Partial<SearchRequest> = {}, embed = async () => Float32Array.of(1, 0)) {
  const side = { embedder: { ...constantEmbedder, embedQuery: embed }, vectors: listedVectors(() => ids.toReversed()) };
  const dependencies = { sql, vectorSide: async () => side };
  return answerSearch(dependencies, { query: "tide", mode: "hybrid", limit: 10, ...request });
}

/** The hits of all pages; `between` runs before each later one. */
async function readAll(request: Partial<SearchRequest>, between: (page: number) => Promise<unknown> = async () => {}) {
  const pages = [await ask(request)];
  for (let next = pages[0]?.next ?? null; next !== null; ) {
    await between(pages.length);
    const page = await ask({ ...request, cursor: next });
    pages.push(page);
    next = page.next;
  }
  return pages;
}

const addDocuments = (word: string) =>
  addPages(
    sql,
    Array.from({ length: 5 }, (_, at) => ({
      url: `https://new.example/${word}/${at}`,
      chunks: ["tide tide tide tide"],
    })),
  );

describe.each(MODES)("the pages of a search in mode %s", (mode) => {
  test("give each hit of the ranking once, as one long page does", async () => {
    const whole = await ask({ mode, limit: 50 });
    expect(whole).toMatchObject({ next: null, total: { count: COUNT, exact: true } });
    for (const limit of [1, 10, 44, 45]) {
      const pages = await readAll({ mode, limit });
      expect(pages.map(({ results }) => results.length).slice(0, -1)).toEqual(
        Array.from({ length: Math.ceil(COUNT / limit) - 1 }, () => limit),
      );
      expect(pages.flatMap(({ results }) => results)).toEqual(whole.results);
      expect(new Set(pages.map(({ total }) => total.count))).toEqual(new Set([COUNT]));
    }
  });

  test("stay as they are while documents are added", async () => {
    const before = await readAll({ mode });
    const during = await readAll({ mode }, async (page) => {
      await addDocuments(String(page));
      await refreshCorpusStatistics(sql);
    });
    expect(during.map(({ results }) => results)).toEqual(before.map(({ results }) => results));
  });

  test("leave out what is removed or leaves the filter meanwhile, and nothing else", async () => {
    const request = { mode, filter: { domains: ["site.example"] } };
    const expected = (await readAll(request)).flatMap(({ results }) => results.map(({ url }) => url));
    const [deleted = "", hidden = "", moved = ""] = expected.slice(20);
    const during = await readAll(request, async (page) => {
      if (page !== 2) return;
      await sql`delete from documents where url = ${deleted}`;
      await sql`update documents set deleted_at = now() where url = ${hidden}`;
      await sql`update documents set domain = 'other.example' where url = ${moved}`;
    });
    expect(during.flatMap(({ results }) => results.map(({ url }) => url))).toEqual(
      expected.filter((url) => ![deleted, hidden, moved].includes(url)),
    );
    expect(during.map(({ results }) => results.length)).toEqual([10, 10, 10, 10, 2]);
  });

  test("end with a clear error where their generation is replaced", async () => {
    const { next } = await ask({ mode });
    await sql`update documents set generation_active = false where generation_id = ${GENERATION}`;
    await addDocuments("after");
    const cursor = { mode, cursor: next ?? "" };
    await expect(ask(cursor)).rejects.toMatchObject({ status: 410, code: "CURSOR_EXPIRED" });
    await sql`delete from documents where generation_id = ${GENERATION}`;
    await expect(ask(cursor)).rejects.toMatchObject({ status: 410, code: "CURSOR_EXPIRED" });
  });
});

test("later pages say which side the ranking was made without", async () => {
  const embed = async () => {
    throw new RetryableError("down", { code: "EMBEDDER_UNAVAILABLE" });
  };
  const first = await ask({}, embed);
  const second = await ask({ cursor: first.next ?? "" });
  const missing = [{ side: "vector", code: "EMBEDDER_UNAVAILABLE", reason: "the embedder does not answer" }];
  expect([first.missing, second.missing]).toMatchObject([missing, missing]);
});

test("a page of a cursor marks the words of the query, and has what stands beside", async () => {
  const { next } = await ask({ limit: 2 });
  const { results } = await ask({ limit: 2, expand: true, cursor: next ?? "" });
  expect(results.map(({ highlights }) => highlights[0])).toEqual([
    [0, 4],
    [0, 4],
  ]);
});

describe("the total", () => {
  const totalOf = async (request: Partial<SearchRequest>) => (await ask({ mode: "keyword", ...request })).total;

  test("is counted where all matches were seen", async () => {
    expect(await totalOf({ limit: 1 })).toEqual({ count: COUNT, exact: true });
    expect(await totalOf({ query: "kraken" })).toEqual({ count: 0, exact: true });
    expect(await totalOf({ query: "!!" })).toEqual({ count: 0, exact: true });
    expect(await totalOf({ query: '"number 4"' })).toEqual({ count: 1, exact: true });
    expect(await totalOf({ query: "tide -number" })).toEqual({ count: 0, exact: true });
    expect(await totalOf({ filter: { urlPrefix: "https://site.example/4" } })).toEqual({ count: 6, exact: true });
    expect(await totalOf({ filter: { domains: ["none.example"] } })).toEqual({ count: 0, exact: true });
  });

  test("counts what is scored high enough", async () => {
    const { results } = await ask({ mode: "keyword", limit: 50 });
    const minScore = results[20]?.score ?? 0;
    const kept = results.filter(({ score }) => score >= minScore).length;
    expect(await totalOf({ minScore })).toEqual({ count: kept, exact: true });
  });

  test("is an estimate where there are more matches than are ranked, and no page is missing from it", async () => {
    const more = Array.from({ length: 700 }, (_, at) => ({
      url: `https://many.example/${at}`,
      chunks: [`tide ${at % 2 === 0 ? "ebb" : "flood"}`],
    }));
    await addPages(sql, more);
    await refreshCorpusStatistics(sql);
    expect(await totalOf({})).toEqual({ count: COUNT + 700, exact: false });
    const ebb = await totalOf({ query: "ebb flood" });
    expect(ebb.exact).toBe(false);
    // independent words would meet in a quarter of the chunks
    expect(ebb.count).toBeGreaterThan(500);
    expect(ebb.count).toBeLessThanOrEqual(745);
    expect(await totalOf({ query: "ebb" })).toMatchObject({ count: 350 });
    expect(await totalOf({ query: "ebb", filter: { urlPrefix: "https://many" } })).toEqual({ count: 350, exact: true });
    for (const mode of MODES) {
      const pages = await readAll({ mode, limit: 50 });
      const read = pages.reduce((sum, { results }) => sum + results.length, 0);
      expect(pages[0]?.total.count).toBeGreaterThanOrEqual(read);
    }
  });
});
