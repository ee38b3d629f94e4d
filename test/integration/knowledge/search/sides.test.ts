import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Embedder } from "../../../../shared/knowledge/embedders/embedder.ts";
import { answerSearch, search } from "../../../../shared/knowledge/search/search.ts";
import type { SearchRequest } from "../../../../shared/knowledge/search/search-request.ts";
import { openVectorSide } from "../../../../shared/knowledge/search/vector-side.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import { connectDatabase, type Sql } from "../../../../shared/platform/database/database.ts";
import { RetryableError } from "../../../../shared/platform/errors.ts";
import { type TestDatabase, testDatabase } from "../../../services/index.ts";
import { slowness } from "../../../services/slowness.ts";
import { addPages, constantEmbedder, listedVectors } from "./corpus.ts";

const DOWN = new RetryableError("down", { code: "EMBEDDER_UNAVAILABLE" });
const LOST = new RetryableError("down", { code: "VECTOR_STORE_UNAVAILABLE" });

let database: TestDatabase;
let sql: Sql;
let ids: string[];
beforeEach(async () => {
  database = await testDatabase({ poolSize: 1 });
  sql = database.sql;
  ids = await addPages(
    sql,
    ["ebb", "flood", "calm"].map((word) => ({ url: `https://site.example/${word}`, chunks: [`tide pool at ${word}`] })),
  );
});
afterEach(() => database.drop());

/** Any vector finds the last two pages. */
const vectors = () => listedVectors(() => ids.slice(1));
const failing = (error: Error) => async () => {
  throw error;
};
const hang = () => new Promise<never>(() => {});

function ask(side: { embedder?: Partial<Embedder>; vectors?: object }, request: Partial<SearchRequest> = {}) {
  const open = { embedder: { ...constantEmbedder, ...side.embedder }, vectors: { ...vectors(), ...side.vectors } };
  const dependencies = { sql, vectorSide: async () => open, sharedWaitMs: 300 };
  return () => answerSearch(dependencies, { query: "ebb", mode: "hybrid", limit: 10, ...request });
}

async function whileLocked(table: string, work: () => Promise<void>): Promise<void> {
  const other = connectDatabase({ url: database.url, poolSize: 1 });
  const release = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = other.begin(async (tx) => {
    await tx`lock table ${tx(table)} in access exclusive mode`;
    locked.resolve();
    await release.promise;
  });
  try {
    await locked.promise;
    await work();
  } finally {
    release.resolve();
    await holding;
    await other.end();
  }
}

async function embedded(model: string): Promise<void> {
  await sql`insert into embeddings (chunk_id, state, model, dimension) select id, 'done', ${model}, 2 from chunks`;
}

describe("a search with one side", () => {
  test("is whole, and says so, where both sides answer", async () => {
    const { results, missing } = await ask({})();
    expect(results.map(({ chunkId }) => chunkId).toSorted()).toEqual(ids.toSorted());
    expect(missing).toEqual([]);
  });

  test.each([
    ["the embedder is down", { embedder: { embedQuery: failing(DOWN) } }, "EMBEDDER_UNAVAILABLE"],
    ["the store is down", { vectors: { search: failing(LOST) } }, "VECTOR_STORE_UNAVAILABLE"],
    ["the store breaks", { vectors: { search: failing(new Error("disk image malformed")) } }, "VECTOR_SIDE_FAILED"],
    [
      "the vector is not a number",
      { embedder: { embedQuery: async () => Float32Array.of(NaN, 1) } },
      "EMBEDDING_INVALID",
    ],
    ["the vector is zero", { embedder: { embedQuery: async () => Float32Array.of(0, 0) } }, "EMBEDDING_INVALID"],
    ["the vector is too long", { embedder: { embedQuery: async () => Float32Array.of(0, 1, 0) } }, "EMBEDDING_INVALID"],
  ])("answers by words where %s", async (_name, side, code) => {
    const { results, missing } = await ask(side)();
    // as of a search by words alone, so that min_score means the same
    expect(results).toMatchObject([{ chunkId: ids[0], source: "keyword", score: 1 }]);
    expect(missing).toMatchObject([{ side: "vector", code, reason: expect.stringMatching(/^(the|an) /) }]);
    await expect(ask(side, { mode: "vector" })()).rejects.toMatchObject({ status: 503, code });
    expect(await ask(side, { mode: "keyword" })()).toMatchObject({ results: [{ chunkId: ids[0] }], missing: [] });
  });

  test("answers by words where the vector side cannot be opened", async () => {
    const dependencies = { sql, vectorSide: failing(new Error("no such file")) };
    const answer = await answerSearch(dependencies, { query: "ebb", mode: "hybrid", limit: 10 });
    expect(answer).toMatchObject({ results: [{ chunkId: ids[0] }], missing: [{ code: "VECTOR_SIDE_FAILED" }] });
  });

  test.each([
    ["embedder", { embedder: { embedQuery: hang } }],
    ["store", { vectors: { search: hang } }],
  ])("does not wait for a hanging %s, nor does the next search at all", async (_name, side) => {
    const again = ask(side);
    const started = performance.now();
    expect(await again()).toMatchObject({ results: [{ chunkId: ids[0] }], missing: [{ code: "VECTOR_SIDE_LATE" }] });
    const first = performance.now() - started;
    expect(first).toBeLessThan(2_000 * slowness());
    const resumed = performance.now();
    for (let round = 0; round < 5; round++) expect((await again()).missing).toHaveLength(1);
    expect(performance.now() - resumed).toBeLessThan(1_000 * slowness());
  });

  test("an emptied store is missing, one that never held anything is not", async () => {
    const side = { vectors: { search: async () => [] } };
    expect((await ask(side)()).missing).toEqual([]);
    await embedded("constant");
    const { results, missing } = await ask(side)();
    expect(results).toMatchObject([{ chunkId: ids[0] }]);
    expect(missing).toMatchObject([{ side: "vector", code: "VECTOR_STORE_EMPTY" }]);
    await expect(ask(side, { mode: "vector" })()).rejects.toMatchObject({ status: 503, code: "VECTOR_STORE_EMPTY" });
    const elsewhere = { filter: { domains: ["other.example"] } };
    expect(await ask(side, elsewhere)()).toMatchObject({ results: [], missing: [] });
    await sql`update embeddings set model = 'the one before'`;
    expect((await ask(side)()).missing).toMatchObject([{ side: "vector", code: "VECTORS_OF_ANOTHER_MODEL" }]);
  });

  test("answers by meaning where the index takes too long", async () => {
    await whileLocked("lexeme_statistics", async () => {
      const { results, missing } = await ask({})();
      expect(results.map(({ chunkId, source }) => [chunkId, source])).toEqual([
        [ids[1], "vector"],
        [ids[2], "vector"],
      ]);
      expect(missing).toMatchObject([{ side: "keyword", code: "SEARCH_TIMEOUT" }]);
      // what must stand in each result is not known to stand in these
      await expect(ask({}, { query: '"pool at"' })()).rejects.toMatchObject({ status: 503, code: "SEARCH_TIMEOUT" });
      const neither = ask({ embedder: { embedQuery: failing(DOWN) } });
      const headers = { "retry-after": "5" };
      await expect(neither()).rejects.toMatchObject({ status: 503, code: "SEARCH_TIMEOUT", headers });
    });
    expect((await ask({})()).missing).toEqual([]);
  });

  test("by meaning alone is answered without highlights where the index takes too long", async () => {
    await whileLocked("lexeme_statistics", async () => {
      const { results, missing } = await ask({}, { mode: "vector" })();
      expect(results.map(({ chunkId, highlights }) => [chunkId, highlights])).toEqual([
        [ids[1], []],
        [ids[2], []],
      ]);
      expect(missing).toMatchObject([{ side: "keyword", code: "SEARCH_TIMEOUT" }]);
      const bound = ask({}, { query: '"pool at"' });
      await expect(bound()).rejects.toMatchObject({ status: 503, code: "SEARCH_TIMEOUT" });
    });
  });

  test("answers by words where the documents of a filter take too long to find for the vector store", async () => {
    const others = Array.from({ length: 10 }, (_, at) => ({
      url: `https://site.example/${at}`,
      chunks: [`calm ${at}`],
    }));
    await addPages(sql, others);
    // each of them takes 0.3 s to look at
    const view = (also: string) =>
      sql.unsafe(`
        create or replace view documents_active as
          select * from documents where generation_active and deleted_at is null ${also}`);
    await view("and (url !~ '/[0-9]$' or pg_sleep(0.3) is not null)");
    try {
      const vectorSide = async () => ({ embedder: constantEmbedder, vectors: vectors() });
      const request: SearchRequest = { query: "ebb", mode: "hybrid", limit: 10, filter: { languages: ["en"] } };
      const answer = await answerSearch({ sql, vectorSide, sharedWaitMs: 2_000 }, request);
      expect(answer).toMatchObject({
        results: [{ chunkId: ids[0], source: "keyword" }],
        missing: [{ side: "vector", code: "SEARCH_TIMEOUT" }],
      });
    } finally {
      // databases are used again
      await view("");
    }
  });

  test("is an error that says so where what follows the ranking takes too long", async () => {
    const counting = ask({}, { facets: ["tag"] });
    await whileLocked("tags", async () => {
      await expect(counting()).rejects.toMatchObject({ status: 503, code: "SEARCH_TIMEOUT" });
    });
    expect((await counting()).facets?.counted).toBe(3);
  });

  test("is an error for who wants both", async () => {
    const vectorSide = async () => ({
      embedder: { ...constantEmbedder, embedQuery: failing(DOWN) },
      vectors: vectors(),
    });
    const request = { query: "ebb", mode: "hybrid", limit: 10 } as const;
    await expect(search({ sql, vectorSide }, request)).rejects.toMatchObject({ code: "EMBEDDER_UNAVAILABLE" });
  });
});

describe("a search with an embedding server that answers", () => {
  let server: Server;
  let answer: (inputs: string[]) => string;
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      // what an old server says of /info
      if (request.method === "GET") return response.writeHead(404).end();
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const { inputs } = JSON.parse(Buffer.concat(pieces).toString()) as { inputs: string[] };
      response.writeHead(200, { "content-type": "application/json" }).end(answer(inputs));
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test.each([
    ["not a number", "[[null, 1]]", "EMBEDDING_INVALID"],
    ["zeros", "[[0, 0]]", "EMBEDDING_INVALID"],
    ["too few numbers", "[[1]]", "EMBEDDING_INVALID"],
    ["no vector", "[]", "EMBEDDER_ANSWER_INVALID"],
    ["two vectors", "[[0, 1], [1, 0]]", "EMBEDDER_ANSWER_INVALID"],
    ["HTML", "<html></html>", "EMBEDDER_ANSWER_INVALID"],
  ])("%s goes by words, and asks again next time", async (_name, body, code) => {
    const vectorSide = openVectorSide(
      loadConfig({
        TEI__URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        TEI__EMBEDDING_DIMENSION: "2",
        VECTORS__SQLITE_PATH: ":memory:",
      }),
    );
    const request = { query: "ebb", mode: "hybrid", limit: 10 } as const;
    answer = () => body;
    expect(await answerSearch({ sql, vectorSide }, request)).toMatchObject({
      results: [{ chunkId: ids[0] }],
      missing: [{ side: "vector", code }],
    });
    answer = (inputs) => JSON.stringify(inputs.map(() => [0, 1]));
    expect((await answerSearch({ sql, vectorSide }, request)).missing).toEqual([]);
  });
});
