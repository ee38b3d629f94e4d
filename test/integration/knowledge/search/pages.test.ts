import postgres from "postgres";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { rememberQueries } from "../../../../shared/knowledge/embedders/query-cache.ts";
import type { Reranker } from "../../../../shared/knowledge/rerankers/reranker.ts";
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

/**
 * The state of the index, languages, lexemes, statistics and their counts, the ranking by words, visible vectors,
 * texts, and the lexemes of these.
 */
const PLAIN_STATEMENTS = 8;

let sql: Sql;
let url: string;
let ids: string[];
beforeEach(async () => {
  ({ sql, url } = await testDatabase({ poolSize: 4 }));
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

test("an answer says whether its query had its vector from an earlier search", async () => {
  const embedder = rememberQueries(constantEmbedder);
  const side = { embedder, vectors: listedVectors(() => ids) };
  const remembered = async (request: Partial<SearchRequest> = {}) => {
    const asked: SearchRequest = { query: "tide", mode: "hybrid", limit: 1, ...request };
    return (await answerSearch({ sql, vectorSide: async () => side }, asked)).queryRemembered;
  };
  expect([await remembered(), await remembered(), await remembered({ mode: "vector", limit: 2 })]).toEqual([
    false,
    true,
    true,
  ]);
  expect([await remembered({ mode: "keyword" }), await remembered({ query: "ebb" })]).toEqual([false, false]);
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

test("a search asks the database for nothing more than it did without pages, totals and reranking", async () => {
  const statements: string[] = [];
  const logged = postgres(url, { max: 1, debug: (_: number, query: string) => statements.push(query) }) as unknown;
  onTestFinished(() => (logged as Sql).end());
  const side = { embedder: constantEmbedder, vectors: listedVectors(() => ids) };
  const count = async (request: Partial<SearchRequest>) => {
    statements.length = 0;
    const dependencies = { sql: logged as Sql, vectorSide: async () => side };
    await answerSearch(dependencies, { query: "tide", mode: "hybrid", limit: 1, ...request });
    return statements.filter((statement) => /^\s*(select|with)\b/i.test(statement)).length;
  };
  // what the driver asks once for each connection
  await count({});
  const plain = await count({});
  expect(plain).toBe(PLAIN_STATEMENTS);
  expect(await count({ rerankTopN: 5 })).toBe(plain);
  expect(await count({ facets: ["domain", "month"] })).toBe(plain + 1);
  expect(await count({ collapse: true })).toBe(plain + 1);
});

describe("near-duplicates", () => {
  const NOTICE = "The lock is closed for repairs until the end of the month, so boats wait outside";
  const collapsed = (request: Partial<SearchRequest> = {}) =>
    ask({ query: "lock repairs", mode: "keyword", collapse: true, ...request });
  let notices: string[];

  beforeEach(async () => {
    notices = await addPages(
      sql,
      ["a lock", `${NOTICE}.`, `${NOTICE}!`, NOTICE.replace("boats", "ships"), "repairs of a lock"].map(
        (chunk, at) => ({
          ...{ url: `https://port.example/${at}`, title: `Page ${at}`, chunks: [chunk] },
        }),
      ),
    );
  });

  test("are listed under the best of them, and nothing else is", async () => {
    const { results, total } = await collapsed();
    const plain = await collapsed({ collapse: false });
    const first = results.find(({ duplicates }) => duplicates.length > 0);
    expect(results.map(({ duplicates }) => duplicates.length).toSorted()).toEqual([0, 0, 2]);
    expect(plain.results).toHaveLength(5);
    expect(total).toEqual({ count: 5, exact: true });
    const behind = plain.results.filter(({ content }) => content.includes("until the end")).slice(1);
    expect(first?.duplicates).toEqual(
      behind.map(({ chunkId, documentId, url, title, score }) => ({
        ...{ chunkId, documentId, url, title, score },
        similarity: expect.any(Number),
      })),
    );
    for (const { similarity } of first?.duplicates ?? []) expect(similarity).toBeGreaterThanOrEqual(0.6);
  });

  test("stay with their result on the page that has it, without those that are removed meanwhile", async () => {
    const whole = await collapsed();
    const pages = await readAll({ query: "lock repairs", mode: "keyword", collapse: true, limit: 1 });
    expect(pages.flatMap(({ results }) => results)).toEqual(whole.results);
    const at = whole.results.findIndex(({ duplicates }) => duplicates.length > 0);
    const [gone] = whole.results[at]?.duplicates ?? [];
    const later = await readAll({ query: "lock repairs", mode: "keyword", collapse: true, limit: 1 }, async () => {
      await sql`delete from documents where url = ${gone?.url ?? ""}`;
    });
    expect(later.flatMap(({ results }) => results).map(({ duplicates }) => duplicates.length)).toEqual(
      whole.results.map(({ duplicates }, index) => (index === at && at > 0 ? 1 : duplicates.length)),
    );
    expect(notices).toHaveLength(5);
  });
});

describe("reranked", () => {
  const DOWN = new RetryableError("down", { code: "RERANKER_UNAVAILABLE" });
  /** Likes the highest number best. */
  const byNumber = { rerank: async (_: string, texts: readonly string[]) => texts.map((text) => numberOf(text) / 100) };
  const down = {
    rerank: async () => {
      throw DOWN;
    },
  };
  const numberOf = (text: string) => Number(text.split(" ").at(-1));
  const rerankedBy = (asked: Pick<Reranker, "rerank"> | null) => (request: Partial<SearchRequest>) =>
    answerSearch(
      { sql, vectorSide: async () => null, reranker: asked && { ...asked, check: async () => {} } },
      { query: "tide", mode: "keyword", limit: 5, rerankTopN: 8, ...request },
    );

  test("are the best of the ranking, and the rest follows as it is", async () => {
    const { results: plain } = await ask({ mode: "keyword", limit: 20 });
    const best = plain.slice(0, 8).toSorted((a, b) => numberOf(b.content) - numberOf(a.content));
    const search = rerankedBy(byNumber);
    const first = await search({});
    expect(first.missing).toEqual([]);
    expect(first.results).toEqual(
      best.slice(0, 5).map((result) => ({ ...result, rerankScore: numberOf(result.content) / 100 })),
    );
    // with nothing to ask: the order is that of the cursor
    const second = await rerankedBy(down)({ cursor: first.next ?? "" });
    expect(second.results.map(({ chunkId, rerankScore }) => [chunkId, rerankScore !== undefined])).toEqual([
      ...best.slice(5).map(({ chunkId }) => [chunkId, true]),
      ...plain.slice(8, 10).map(({ chunkId }) => [chunkId, false]),
    ]);
  });

  test("are fewer than are asked for where a page is longer", async () => {
    const { results } = await rerankedBy(byNumber)({ rerankTopN: 2, limit: 4 });
    expect(results.map(({ rerankScore }) => rerankScore !== undefined)).toEqual([true, true, false, false]);
  });

  test("is nothing where the reranker is down, and the answer says so on each page", async () => {
    const { results: plain } = await ask({ mode: "keyword", limit: 10 });
    const search = rerankedBy(down);
    const first = await search({});
    const second = await search({ cursor: first.next ?? "" });
    expect([...first.results, ...second.results]).toEqual(plain);
    for (const { missing } of [first, second]) {
      const reason = "the reranker does not answer in time";
      expect(missing).toMatchObject([{ side: "reranker", code: "RERANKER_UNAVAILABLE", reason }]);
    }
  });

  test("is nothing where nothing is found", async () => {
    expect(await rerankedBy(down)({ query: "kraken" })).toMatchObject({ results: [], missing: [], next: null });
  });
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
