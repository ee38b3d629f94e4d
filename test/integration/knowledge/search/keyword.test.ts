import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refreshCorpusStatistics } from "../../../../shared/knowledge/search/corpus-statistics.ts";
import { search } from "../../../../shared/knowledge/search/search.ts";
import { type TestDatabase, testDatabase } from "../../../services/index.ts";
import { addPages } from "./corpus.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await addPages(database.sql, [
    {
      url: "https://site.example/whales",
      title: "Whales",
      chunks: [
        "A blue whale swims across the whole ocean. Whales sing.",
        "The harpoon gun was invented in 1870 and changed hunting for good.",
      ],
    },
    {
      url: "https://site.example/code",
      title: "Reading files with fs.readFile",
      domain: "code.example",
      chunks: [
        "Call fs.readFile over TCP/IP, or don't. It isn't C:\\path and costs O'Reilly 3.14 euros.",
        "Wale sind Säugetiere; naïve façade Größe über München.",
      ],
    },
    {
      url: "https://site.example/ocean",
      title: "Ocean",
      chunks: ["Ocean ocean ocean. The deep ocean is dark and cold."],
    },
    {
      url: "https://site.example/markup",
      title: "The <script> element and <style>",
      chunks: [
        "An <img alt=albatross> or Map<String, Heron>&nbsp;by <b>gannets</b>. <!-- puffin --> R&D <script> terns",
      ],
    },
    {
      url: "https://site.example/typeset",
      title: "Typeset",
      chunks: [
        "İbis and IBIS; 😀 The “cormorant”—a ‘shag’—it’s «guillemot»…skua\u00a0kittiwake → fulmar・日本語、検索。・petrel",
      ],
    },
  ]);
});
afterAll(() => database.drop());

const keywordSearch = (query: string, options: { domains?: string[]; limit?: number } = {}) =>
  search(
    { sql: database.sql, vectorSide: async () => null },
    { query, mode: "keyword", limit: options.limit ?? 10, filter: options.domains ? { domains: options.domains } : {} },
  );
const urls = async (query: string) => (await keywordSearch(query)).map(({ url }) => url.split("/").at(-1));

describe.each(["without statistics", "with statistics"])("keyword search %s", (state) => {
  beforeAll(async () => {
    if (state === "with statistics") expect(await refreshCorpusStatistics(database.sql)).toBe(true);
  });

  test("finds other forms of a word", async () => {
    expect(await urls("whale singing")).toEqual(["whales", "whales"]);
    expect((await keywordSearch("sings"))[0]?.content).toContain("Whales sing");
  });

  test("finds chunks that hold only some of the words, best first", async () => {
    expect((await urls("ocean harpoons zeppelin")).toSorted()).toEqual(["ocean", "whales", "whales"]);
    expect(await urls("dark ocean")).toEqual(["ocean", "whales"]);
  });

  test("finds the parts of what a slash or a dot joins", async () => {
    expect(await urls("readFile")).toContain("code");
    expect(await urls("ip")).toEqual(["code"]);
    expect(await urls("TCP/IP")).toEqual(["code"]);
  });

  test.each("script style img albatross String heron gannet puffin r tern".split(" "))(
    "finds %j in a text that looks like markup, and highlights it",
    async (word) => {
      const [found] = await keywordSearch(word);
      expect(found?.url).toMatch(/markup$/);
      const marked = (found?.highlights ?? []).map(([start, end]) => found?.content.slice(start, end).toLowerCase());
      // what stands in the title only is not marked
      for (const each of marked) expect(each).toMatch(new RegExp(`^${word}s?$`, "i"));
      if (word !== "style") expect(marked).not.toEqual([]);
    },
  );

  test.each("cormorant shag guillemot skua kittiwake fulmar 日本語 検索 petrel".split(" "))(
    "finds %j between typographic marks, and highlights it by UTF-16 code units",
    async (word) => {
      const [found] = await keywordSearch(word);
      expect(found?.url).toMatch(/typeset$/);
      expect(found?.highlights.map(([start, end]) => found.content.slice(start, end))).toEqual([word]);
    },
  );

  test("highlights capitals whose small letter is another length in JavaScript", async () => {
    const [found] = await keywordSearch("ibis");
    expect(found?.highlights.map(([start, end]) => found.content.slice(start, end))).toEqual(["İbis", "IBIS"]);
  });

  test("a quoted phrase must stand as it is quoted", async () => {
    expect(await urls('"blue whale"')).toEqual(["whales"]);
    expect(await urls('"whale blue"')).toEqual([]);
    expect(await urls('ocean "deep ocean"')).toEqual(["ocean"]);
  });

  test("a word after a minus must not stand", async () => {
    expect(await urls("ocean -whale")).toEqual(["ocean"]);
    expect(await urls('ocean -"deep ocean"')).toEqual(["whales"]);
    expect(await urls("-whale")).toEqual([]);
  });

  test("filters by domain", async () => {
    expect(await keywordSearch("whale ocean readfile", { domains: ["code.example"] })).toHaveLength(2);
    expect(await keywordSearch("whale", { domains: ["nowhere.example"] })).toEqual([]);
  });

  test("highlights fall exactly on the matched words", async () => {
    const [first] = await keywordSearch("sing oceans whale");
    expect(first?.highlights.map(([start, end]) => first.content.slice(start, end))).toEqual([
      "whale",
      "ocean",
      "Whales",
      "sing",
    ]);
    const [code] = await keywordSearch("readfile euro tcp");
    expect(code?.highlights.map(([start, end]) => code.content.slice(start, end))).toEqual([
      "readFile",
      "TCP",
      "euros",
    ]);
    const marked = async (query: string) => {
      const [found] = await keywordSearch(query);
      return found?.highlights.map(([start, end]) => found.content.slice(start, end));
    };
    expect(await marked('"WAS invented in"')).toEqual(["was", "invented", "in"]);
    expect(await marked('"for good"')).toEqual(["for", "good"]);
    expect(await marked('"isn\'t it" -x "or don\'t"')).toBeUndefined();
    expect(await marked('"naive facade"')).toEqual(["naïve", "façade"]);
    expect(await marked('"it isn"')).toEqual(["It", "isn"]);
    const [german] = await keywordSearch("GRÖSSE größe");
    expect(german?.highlights.map(([start, end]) => german.content.slice(start, end))).toEqual(["Größe"]);
  });

  test.each([
    ["only stop words", "the and of"],
    ["only punctuation", "!?… — ()"],
    ["a NUL", "ocean\0whale"],
    ["half a surrogate pair", "ocean \ud800"],
    ["tsquery operators", "ocean & | ! <-> ( whale:*A"],
    ["an open quote", '"ocean'],
    ["empty quotes", '"" -"" - -- "-"'],
    ["quotes of SQL", "'; drop table chunks; -- \\' \\"],
    ["an apostrophe", "O'Reilly don't"],
    ["other scripts", "東京 Москва العربية हिन्दी 🌊"],
    ["a thousand characters", "ocean whale ".repeat(90).slice(0, 1000)],
    ["a word of a thousand characters", "x".repeat(1000)],
    ["a phrase of stop words", '"to be or not to be"'],
    ["many different words", Array.from({ length: 180 }, (_, index) => `w${index}`).join(" ")],
    ["minus signs", "-".repeat(1000)],
    ["a backslash", "C:\\path\\"],
  ])("answers a query of %s", async (_name, query) => {
    await expect(keywordSearch(query)).resolves.toBeInstanceOf(Array);
  });
});

test("a hit shows as much of a title of megabytes as an answer has room for", async () => {
  const { sql } = database;
  const [document] = await sql`select id, title from documents where url like '%/ocean'`;
  const [chunk] = await sql`select id, section_header from chunks where document_id = ${document?.["id"]} limit 1`;
  await sql`update documents set title = repeat('Ocean of titles ', 200000) where id = ${document?.["id"]}`;
  await sql`update chunks set section_header = repeat('header ', 200000) where id = ${chunk?.["id"]}`;
  const found = (await keywordSearch("deep ocean")).find(({ chunkId }) => chunkId === chunk?.["id"]);
  expect([found?.title?.length, found?.sectionHeader?.length]).toEqual([1000, 1000]);
  await sql`update documents set title = ${document?.["title"]} where id = ${document?.["id"]}`;
  await sql`update chunks set section_header = ${chunk?.["section_header"]} where id = ${chunk?.["id"]}`;
});

test("term frequencies are read back exactly from ts_rank", async () => {
  const { sql } = await testDatabase();
  const words = [1, 2, 3, 5, 17, 100, 255];
  await addPages(
    sql,
    words.map((times) => ({ url: `https://site.example/${times}`, chunks: [`${"kelp ".repeat(times)}filler`] })),
  );
  const rows = await sql<{ tf: number }[]>`
    select term_frequency(fts, 'kelp'::tsquery) as tf
    from chunks c order by length(content)`;
  expect(rows.map(({ tf }) => tf)).toEqual(words);
});
