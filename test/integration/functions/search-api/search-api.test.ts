import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { api } from "../../../../functions/search-api/handler.ts";
import { createStaticEmbedder } from "../../../../shared/knowledge/embedders/static/static-embedder.ts";
import { createSqliteVectorStore } from "../../../../shared/knowledge/vector-stores/sqlite-vec.ts";
import { callApi } from "../../../services/api.ts";
import { addPages, tag } from "../../knowledge/search/corpus.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

const CONTENTS = [
  "The harbour café serves fresh bread and coffee every morning.",
  "Tides rise and fall twice a day because of the moon's gravity.",
];
const placeOf = (word: string) => {
  const start = CONTENTS[0]?.indexOf(word) ?? -1;
  return [start, start + word.length];
};
let setup: ApiSetup;
let directory: string;
let chunkIds: string[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "strandline-search-api-"));
  const path = join(directory, "vectors.sqlite");
  setup = await setUpApi({ VECTORS__SQLITE_PATH: path, EMBEDDER__PROVIDER: "static" });
  chunkIds = await addPages(setup.database.sql, [
    { url: "https://site.example/a", title: "Town", sectionHeader: "Food", chunks: CONTENTS },
  ]);
  const { sql } = setup.database;
  await sql`update documents set crawled_at = '2026-05-01T12:00:00Z'`;
  // the last eight characters of the first are the first eight of the second
  await sql`update chunks set start_char = 53 where id = ${chunkIds[1] ?? ""}`;
  const [document] = await sql<{ id: string }[]>`select id from documents`;
  const embedder = createStaticEmbedder();
  const vectors = createSqliteVectorStore({ path, descriptor: embedder.descriptor });
  const embedded = await embedder.embedDocuments(CONTENTS);
  await vectors.upsert(
    chunkIds.map((chunkId, at) => ({
      chunkId,
      vector: embedded[at] ?? new Float32Array(),
      payload: {
        documentId: document?.id ?? "",
        generationId: chunkId,
        collectionId: null,
        domain: "site.example",
        url: "",
        title: null,
        source: "crawl" as const,
        language: "en",
        tags: [],
        crawledAt: "",
      },
    })),
  );
  await vectors.close();
});
afterAll(async () => {
  await setup.close();
  await rm(directory, { recursive: true, force: true });
});

const post = (json: unknown, path = "/api/v1/search", key = setup.keys.read) => callApi(api, { path, json, key });

describe("the search API", () => {
  test("answers in the shape of the reference", async () => {
    const { status, body } = await post({ query: "morning coffee" });
    expect(status).toBe(200);
    expect(body).toEqual({
      results: expect.any(Array),
      missing_sides: [],
      fusion: null,
      total_count: 2,
      total_exact: true,
      facets: null,
      next_cursor: null,
      query_embedding_cached: false,
      result_cached: false,
      latency_ms: expect.any(Number),
    });
    expect(body.results[0]).toEqual({
      document_id: expect.any(String),
      chunk_id: chunkIds[0],
      url: "https://site.example/a",
      title: "Town",
      content: CONTENTS[0],
      score: expect.any(Number),
      vector_score: expect.any(Number),
      keyword_score: expect.any(Number),
      rerank_score: null,
      source: "fused",
      highlights: [placeOf("coffee"), placeOf("morning")],
      section_header: "Food",
      section: null,
      expanded_chunks: null,
      explanation: null,
      duplicates: null,
    });
  });

  test("finds by meaning what shares no word with the query", async () => {
    const { body } = await post({ query: "what does lunar attraction do to the sea?", limit: 1 });
    expect(body.results[0]).toMatchObject({ chunk_id: chunkIds[1], source: "vector", highlights: [] });
    const { body: stopWords } = await post({ query: "what is that" });
    expect(stopWords.results).toHaveLength(2);
  });

  test("answers with one side where one side is asked for", async () => {
    const keyword = await post({ query: "coffee" }, "/api/v1/search/keyword");
    expect(keyword.body.results).toMatchObject([{ source: "keyword", vector_score: null }]);
    const vector = await post({ query: "coffee" }, "/api/v1/search/vector");
    expect(vector.body.results).toMatchObject([{ source: "vector", keyword_score: null }, { source: "vector" }]);
  });

  test("filters by domain, collection and score", async () => {
    expect((await post({ query: "coffee", domains: ["SITE.example"] })).body.results).toHaveLength(2);
    for (const domains of [["*"], ["*.example"]]) {
      const refused = await post({ query: "coffee", domains });
      expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining("no wildcards")]);
    }
    expect((await post({ query: "coffee", domains: ["other.example"] })).body.results).toEqual([]);
    expect((await post({ query: "coffee", collection_ids: [chunkIds[0]] })).body.results).toEqual([]);
    expect((await post({ query: "coffee", min_score: 0.9 })).body.results).toMatchObject([
      { source: "fused", score: 1 },
    ]);
    expect((await post({ query: "coffee", min_score: 1.1 })).body.results).toEqual([]);
  });

  const paths = ["/api/v1/search", "/api/v1/search/vector", "/api/v1/search/keyword"];

  test.each([
    ["languages", ["en", "fr"], ["fr", "und"]],
    ["source_types", ["upload", "crawl"], ["upload", "api"]],
    ["date_from", "2026-05-01T14:00:00+02:00", "2026-05-01T12:00:00.001Z"],
    ["date_to", "2026-05-01T12:00:00Z", "2026-05-01T11:59:59Z"],
    ["url_prefix", "https://site.example/", "https://site.example/b"],
    ["url_prefix", "https://site.example/a", "https://site_example/"],
    ["url_prefix", "HTTPS://Site.Example:443/a", "HTTPS://Site.Example/b"],
    ["url_prefix", "http" + "s://SITE.exam", "https://site.example?a"],
    ["domains", ["ｓｉｔｅ．Example"], ["müller.example"]],
    ["date_to", "9999-12-31T23:59:59-00:00", "0001-01-01T00:00:00Z"],
  ])("filters by %s on both sides", async (field, matching, other) => {
    for (const path of paths) {
      const urls = async (value: unknown) => {
        const { status, body } = await post({ query: "coffee", [field]: value }, path);
        expect(status).toBe(200);
        return [...new Set(body.results.map(({ url }: { url: string }) => url))];
      };
      expect(await urls(matching)).toEqual(["https://site.example/a"]);
      expect(await urls(other)).toEqual([]);
    }
  });

  test("filters by tags, by any or all of them, on both sides", async () => {
    const { sql } = setup.database;
    const sea = await tag(sql, "sea", "https://site.example/a");
    const food = await tag(sql, "food", "https://site.example/a");
    const unused = await tag(sql, "unused");
    const absent = "01990000-0000-7000-8000-000000000001";
    const cases: [object, number][] = [
      [{ tag_ids: [sea] }, 1],
      [{ tags: [" SEA "] }, 1],
      [{ tag_ids: [unused, absent], tags: ["none"] }, 0],
      [{ tag_ids: [unused], tags: ["food"] }, 1],
      [{ tag_ids: [sea, food, sea], tags: ["sea"], tag_match: "all" }, 1],
      [{ tag_ids: [sea], tags: ["unused"], tag_match: "all" }, 0],
      [{ tag_ids: [sea, absent], tag_match: "all" }, 0],
      [{ tags: ["sea", "none"], tag_match: "any" }, 1],
    ];
    for (const path of paths) {
      for (const [filter, pages] of cases) {
        const { status, body } = await post({ query: "coffee", facets: ["tag"], ...filter }, path);
        const urls = new Set(body.results.map(({ url }: { url: string }) => url));
        expect([path, filter, status, urls.size]).toEqual([path, filter, 200, pages]);
        const values = pages === 0 ? [] : ["food", "sea"];
        expect(body.facets.tag.map(({ value }: { value: string }) => value)).toEqual(values);
      }
    }
  });

  test("gives the texts beside a chunk without what they have in common", async () => {
    for (const path of paths) {
      const { body } = await post({ query: "coffee", expand_chunks: true, limit: 1 }, path);
      expect(body.results).toMatchObject([{ content: CONTENTS[0], expanded_chunks: [CONTENTS[1]?.slice(8)] }]);
    }
    const { body } = await post({ query: "tides", expand_chunks: true, limit: 1 });
    expect(body.results[0].expanded_chunks).toEqual([CONTENTS[0]?.slice(0, -8)]);
  });

  test("counts by value, and lists near-duplicates, where that is asked for", async () => {
    const facets = ["domain", "month"];
    const { body } = await post({ query: "coffee", facets, collapse_duplicates: true });
    const [domain, month] = [[{ value: "site.example", count: 2 }], [{ value: "2026-05", count: 2 }]];
    expect(body.facets).toEqual({
      counted: 2,
      exact: true,
      domain,
      language: null,
      collection: null,
      month,
      tag: null,
    });
    expect(body.results).toMatchObject([{ duplicates: [] }, { duplicates: [] }]);
    expect((await post({ query: "kraken", facets }, paths[2])).body.facets).toMatchObject({ counted: 0, domain: [] });
    expect((await post({ query: "-x", facets })).body.facets).toMatchObject({ counted: 0, domain: [] });
  });

  test("explains how the sides were fused", async () => {
    const explained = async (fields: object) => {
      const { body } = await post({ query: "coffee", explain: true, ...fields });
      return { fusion: body.fusion, results: body.results };
    };
    expect(await explained({})).toMatchObject({
      fusion: { method: "linear", vector_weight: 0.3, keyword_weight: 0.7, rrf_k: null },
      results: [
        { score: 1, explanation: { vector_rank: 1, keyword_rank: 1 } },
        { score: 0, explanation: { vector_rank: 2, keyword_rank: null } },
      ],
    });
    expect(await explained({ vector_weight: 2 })).toMatchObject({
      fusion: { method: "rrf", vector_weight: 2, keyword_weight: 1, rrf_k: 60 },
      results: [{ score: expect.closeTo(3 / 61, 10) }, { score: expect.closeTo(2 / 62, 10) }],
    });
    expect(await explained({ rrf_k: 1 })).toMatchObject({ fusion: { rrf_k: 1 }, results: [{ score: 1 }, {}] });
    expect(await explained({ fusion: "linear", vector_weight: 3, keyword_weight: 1 })).toMatchObject({
      fusion: { method: "linear", vector_weight: 0.75, keyword_weight: 0.25 },
      results: [{ score: 1 }, { score: 0 }],
    });
    const { body } = await post({ query: "coffee", explain: true }, "/api/v1/search/keyword");
    expect(body).toMatchObject({ fusion: null, results: [{ explanation: { vector_rank: null, keyword_rank: 1 } }] });
  });

  test.each([
    ["dates reversed", { date_from: "2026-05-02T00:00:00Z", date_to: "2026-05-01T00:00:00Z" }, "date_from"],
    ["a date without its zone", { date_from: "2026-05-02T00:00:00" }, "date_from"],
    ["the year 0", { date_from: "0000-01-01T00:00:00Z" }, "date_from"],
    ["the year before 1 by UTC", { date_from: "0001-01-01T00:00:00+10:00" }, "date_from"],
    ["the year after 9999 by UTC", { date_to: "9999-12-31T23:59:59-23:59" }, "date_to"],
    ["a language that is none", { languages: ["english"] }, "languages"],
    ["an unknown source", { source_types: ["ftp"] }, "source_types"],
    ["a prefix that is no URL", { url_prefix: "site.example" }, "url_prefix"],
    ["10,000 domains", { domains: Array.from({ length: 10_000 }, (_, at) => `d${at}.example`) }, "domains"],
    ["both weights 0", { vector_weight: 0, keyword_weight: 0 }, "vector_weight"],
    ["rrf_k with linear fusion", { fusion: "linear", rrf_k: 10 }, "rrf_k"],
    ["rrf_k 0", { rrf_k: 0 }, "rrf_k"],
    ["an unknown fusion", { fusion: "best" }, "fusion"],
    ["tag_match without tags", { tag_match: "all" }, "tag_match"],
    ["a tag that is no id", { tag_ids: ["sea"] }, "tag_ids"],
    ["a tag without a name", { tags: [" "] }, "tags"],
    ["an unknown facet", { facets: ["colour"] }, "facets"],
    ["no facets", { facets: [] }, "facets"],
    ["facets of a later page", { facets: ["domain"], cursor: "AQ" }, "facets"],
    ["rerank_top_n without use_reranker", { rerank_top_n: 5 }, "rerank_top_n"],
    ["rerank_top_n 101", { use_reranker: true, rerank_top_n: 101 }, "rerank_top_n"],
  ])("refuses %s with 400 and says where", async (_name, fields, where) => {
    const { status, body } = await post({ query: "coffee", ...fields });
    expect([status, body.details.faults[0].path]).toEqual([400, expect.stringContaining(where)]);
  });

  test.each(["fusion", "rrf_k", "vector_weight", "keyword_weight"])(
    "refuses %s where one side is asked",
    async (field) => {
      const json = { query: "coffee", [field]: field === "fusion" ? "rrf" : 2 };
      for (const path of paths.slice(1)) {
        const { status, body } = await post(json, path);
        expect([status, body.details.faults[0].path]).toEqual([400, field]);
      }
    },
  );

  test.each([
    ["no query", {}, "query"],
    ["an empty query", { query: "  " }, "query"],
    ["a query of 4001 characters", { query: "x".repeat(4001) }, "query"],
    ["a query that is no text", { query: 5 }, "query"],
    ["limit 0", { query: "a", limit: 0 }, "limit"],
    ["limit 101", { query: "a", limit: 101 }, "limit"],
    ["limit 1.5", { query: "a", limit: 1.5 }, "limit"],
    ["a collection that is no id", { query: "a", collection_ids: ["x"] }, "collection_ids"],
    ["an unknown field", { query: "a", colour: "red" }, "colour"],
  ])("refuses %s with 400 and says where", async (_name, json, where) => {
    const { status, body } = await post(json);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(where);
  });

  test.each([["use_reranker", true, "RERANKER_NOT_CONFIGURED"]])(
    "says clearly that it has no %s",
    async (field, value, code) => {
      const { status, body } = await post({ query: "coffee", [field]: value });
      expect([status, body.code, body.details]).toEqual([400, code, { field }]);
    },
  );

  test("gives the rest of a ranking page by page", async () => {
    for (const path of paths.slice(0, 2)) {
      const whole = await post({ query: "coffee" }, path);
      const first = await post({ query: "coffee", limit: 1 }, path);
      const second = await post({ query: "coffee", limit: 1, cursor: first.body.next_cursor }, path);
      expect(first.body.next_cursor).toEqual(expect.any(String));
      expect(second).toMatchObject({ status: 200, body: { next_cursor: null, total_count: 2, total_exact: true } });
      expect([...first.body.results, ...second.body.results]).toEqual(whole.body.results);
    }
  });

  test("refuses a cursor that is none of the search", async () => {
    const { body } = await post({ query: "coffee", limit: 1 });
    const cursor: string = body.next_cursor;
    const altered = cursor.slice(0, 40) + (cursor[40] === "A" ? "B" : "A") + cursor.slice(41);
    const refusal = async (json: object, path?: string) => {
      const answer = await post({ query: "coffee", ...json }, path);
      return [answer.status, answer.body.code, answer.body.details];
    };
    const field = { field: "cursor" };
    for (const other of ["", "abc", "NDI5NDk2", altered]) {
      expect(await refusal({ cursor: other })).toEqual([400, "CURSOR_INVALID", field]);
    }
    const another = [400, "CURSOR_OF_ANOTHER_SEARCH", field];
    expect(await refusal({ cursor, query: "tea" })).toEqual(another);
    expect(await refusal({ cursor, languages: ["en"] })).toEqual(another);
    expect(await refusal({ cursor, rrf_k: 3 })).toEqual(another);
    expect(await refusal({ cursor }, "/api/v1/search/vector")).toEqual(another);
    expect(await refusal({ cursor: "x".repeat(200_001) })).toMatchObject([400, "VALIDATION_ERROR", {}]);
  });

  test("wants a key that may read", async () => {
    expect((await callApi(api, { path: "/api/v1/search", json: { query: "a" } })).status).toBe(401);
    expect((await post({ query: "a" }, "/api/v1/search", "wrong")).status).toBe(401);
  });

  test.each(["the", "!!", '"', "-x", "a & b | !c:*", "x".repeat(1000), "東京"])(
    "answers the odd query %j",
    async (query) => {
      for (const path of ["/api/v1/search", "/api/v1/search/vector", "/api/v1/search/keyword"]) {
        expect((await post({ query }, path)).status).toBe(200);
      }
    },
  );

  const many = (count: number, of: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => of(at)).join(" ");
  test.each([
    ["500 quoted phrases", many(500, (at) => `"p${at}"`)],
    ["500 quoted phrases of two words", many(400, (at) => `"a${at} b"`)],
    ["600 excluded words", many(600, (at) => `-w${at}`)],
    ["a word and 600 excluded ones", `coffee ${many(600, (at) => `-w${at}`)}`],
    ["2,000 letters", many(2_000, (at) => String.fromCodePoint(97 + (at % 26)))],
    ["stop words", "the of and to in that is was for it with as his on be at by"],
    ["a phrase of stop words", '"to be or not to be"'],
    ["one emoji", "🌊"],
    ["a flag and a family", "🇫🇷 👨‍👩‍👧‍👦"],
    ["a regular expression", "(a+)+$ [^a-z]* \\d{1,9} (?<=x).*?"],
    ["SQL", "'; drop table chunks; -- ' or 1=1 union select * from api_keys"],
    ["operators of a text query", "a & !b | (c <-> d):* <2> ':A' \\"],
    ["quotes that never close", '"""coffee "" "'],
    ["percent signs", "100% coff_e %s $1 {{y}}"],
    ["4,000 marks on one letter", `e${"\u0301".repeat(3_999)}`],
    ["4,000 characters without a space", "水".repeat(4_000)],
    ["a word of 4,000 letters", "w".repeat(4_000)],
    ["4,000 ligatures, each of four words, in quotes", `"${"\ufdfa".repeat(3_998)}"`],
    ["a URL", "https://user:pw@site.example:8080/a/b?c=d&e=f#g"],
    ["right to left", "\u202eكتاب\u202c \u200f"],
    ["400 addresses", many(400, (at) => `a${at}@b.c`)],
    ["4,000 characters that @ joins", "a@".repeat(2_000)],
    ["200 phrases in Thai", many(200, (at) => `"รถไฟฟ้า${at}"`)],
    ["a phrase of 1,120 stop words", `"${"to be or not ".repeat(280)}"`],
    ["a phrase in Thai of 3,900 characters", `"${"รถไฟฟ้าบีทีเอส".repeat(275)}"`],
    ["grades and lengths of the index", "5^coffee ^12 '1^bread' =the"],
    ["control characters", "cof\u0001fee \u0007 \u007f"],
  ])("answers %s in its time, and finds nothing that is not there", async (_name, query) => {
    for (const path of paths) {
      const { status, body } = await post({ query, limit: 100 }, path);
      expect([path, status, body.missing_sides]).toEqual([path, 200, []]);
      for (const { content, highlights } of body.results) {
        for (const [start, end] of highlights) expect(content.slice(start, end)).not.toBe("");
      }
    }
  });

  test.each<[string, object]>([
    ["unknown collections", { collection_ids: ["01990000-0000-7000-8000-000000000001"] }],
    ["an unknown domain", { domains: ["'; --"] }],
    ["100 domains", { domains: Array.from({ length: 100 }, (_, at) => `d${at}.example`) }],
    ["dates before all", { date_to: "0001-01-01T00:00:00Z" }],
    ["dates behind all", { date_from: "9999-12-31T23:59:59Z" }],
    ["unknown tags", { tags: ["01990000-0000-7000-8000-000000000001", "none"] }],
    ["a prefix of the last characters that there are", { url_prefix: "https://site.example/\u{10ffff}\u{10fffe}" }],
    ["a prefix with wildcards", { url_prefix: "https://site.example/%" }],
  ])("finds nothing with %s", async (_name, filter) => {
    for (const path of paths) {
      const { status, body } = await post({ query: "coffee", facets: ["domain"], ...filter }, path);
      expect([status, body.results, body.total_count, body.next_cursor]).toEqual([200, [], 0, null]);
      expect(body.facets).toMatchObject({ counted: 0, exact: true, domain: [] });
    }
  });

  test.each(["\0", "\ud800"])("refuses %j, which is no text", async (query) => {
    expect((await post({ query })).status).toBe(400);
  });
});

describe("a context", () => {
  const ask = (json: unknown) => post(json, "/api/v1/context");

  test("holds what was found within the budget, and says of what and why", async () => {
    const { status, body } = await ask({ query: "morning coffee at the harbour, and tides", max_tokens: 300 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ left_out: 0, missing_sides: [], tokens: expect.any(Number) });
    expect(body.tokens).toBeLessThanOrEqual(300);
    // side by side in their document, they are one passage
    expect(body.citations).toEqual([
      {
        number: 1,
        document_id: expect.any(String),
        chunk_ids: chunkIds,
        ...{ url: "https://site.example/a", title: "Town", section_header: "Food", section_position: null },
        ...{ captured_at: "2026-05-01T12:00:00.000Z", replay_url: null, start_char: 0, end_char: 62, is_cut: false },
        text: expect.stringContaining(CONTENTS[0] ?? "-"),
        reason: {
          ...{ rank: 1, score: expect.any(Number), source: "fused", vector_rank: 1, keyword_rank: 1 },
          ...{ matched_words: expect.arrayContaining(["coffee", "harbour"]), joined: 2, duplicates: 0 },
        },
      },
    ]);
    expect(body.context).toBe(`[1] Town | Food | https://site.example/a | 2026-05-01\n${body.citations[0].text}`);
  });

  test("is empty where nothing matches", async () => {
    const { body } = await ask({ query: "coffee", domains: ["nowhere.example"] });
    expect(body).toMatchObject({ context: "", tokens: 0, citations: [], left_out: 0 });
  });

  test("says what of a request it does not take", async () => {
    for (const json of [
      { query: "a", max_tokens: 99 },
      { query: "a", limit: 5 },
      { query: "a", tag_match: "all" },
      { query: "a", date_from: "2026-02-01T00:00:00Z", date_to: "2026-01-01T00:00:00Z" },
      { query: " " },
    ]) {
      expect(await ask(json)).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
    }
    expect(await ask({ query: "a", use_reranker: true })).toMatchObject({ body: { code: "RERANKER_NOT_CONFIGURED" } });
  });
});
