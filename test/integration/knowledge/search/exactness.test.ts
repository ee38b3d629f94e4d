import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { search } from "../../../../shared/knowledge/search/search.ts";
import { type TestDatabase, testDatabase } from "../../../services/index.ts";
import { addPages } from "./corpus.ts";

const TEXTS = {
  redAnd: "Lamps shine red and green at night",
  redOr: "Lamps shine red or green at night",
  vitaminA: "Carrots hold vitamin A in plenty",
  vitaminC: "Lemons hold vitamin C in plenty",
  hamlet: "He asked: to be, or not to be, and went on",
  band: "We heard The Who play in London",
  song: "Who wrote the songs was never known",
  poseidon: "The valve Poseidon-1234 failed at sea",
  other: "The valve Triton-1235 failed at sea",
  pages: "Set max_pages to limit what is crawled",
  max: "The max is seen on other pages",
  node: "Call fs.readFile from Node.js with maxDepth and HttpClient",
  cpp: "Written in C++ by hand",
  csharp: "Written in C# by hand",
  c: "Written in C by hand",
  version: "Upgrade to v2.10.3 of the tool, not python-3.12.1",
  oldVersion: "Upgrade to 2.10 of the tool",
  numbers: "It sold 1,234,567 copies at 3.14 each on 2024-01-15",
  german: "Verkauft wurden 7.654.321 Stück zu 2,75",
  host: "See https://docs.example.org/guide/install-notes.html and mail help@support.example.net",
  address: "The server 192.168.10.7 listens on 12:45",
  emoji: "We sailed 🚢 to the island 🏝️ at dawn",
  slash: "Use TCP/IP or UDP/IP",
  whales: "Blue whales sing",
};
type Name = keyof typeof TEXTS;

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await addPages(
    database.sql,
    Object.entries(TEXTS).map(([name, text]) => ({ url: `https://site.example/${name}`, chunks: [text] })),
  );
});
afterAll(() => database.drop());

const found = async (query: string): Promise<string[]> => {
  const results = await search(
    { sql: database.sql, vectorSide: async () => null },
    { query, mode: "keyword", limit: 20 },
  );
  return results.map(({ url }) => url.slice("https://site.example/".length));
};

describe("phrases of words that some language does not index", () => {
  const PHRASES = {
    hamlet: "To be, or not to be, that is the question",
    band: "We heard The Who play",
    department: "The IT budget is small",
    budget: "A budget for its cars",
    without: "Film critics like films",
    film: "The film was long",
    menu: "Poulet A\u0300 la crème",
    above: "Gedichte für, über und gegen alles",
    german: "Die Tür ist offen",
  };
  const languages: Record<string, string> = { menu: "fr", above: "de", german: "de" };
  let mixed: TestDatabase;
  beforeAll(async () => {
    mixed = await testDatabase();
    await addPages(
      mixed.sql,
      Object.entries(PHRASES).map(([name, text]) => ({
        ...{ url: `https://site.example/${name}`, chunks: [text], language: languages[name] ?? "en" },
        ...(name === "band" ? { title: "Out of it" } : {}),
      })),
    );
  });
  afterAll(() => mixed.drop());

  test.each<[query: string, names: (keyof typeof PHRASES)[]]>([
    ['"to be or not to be"', ["hamlet"]],
    ['"not be"', []],
    ['"The Who"', ["band"]],
    ['"out of it"', ["band"]],
    ['"IT" budget', ["department"]],
    ['"for its" cars', ["budget"]],
    ["film -the", ["without"]],
    ['"à la"', ["menu"]],
    ['"À LA CREME"', ["menu"]],
    ['"für über"', ["above"]],
    ['"die tur"', ["german"]],
  ])("%s", async (query, names) => {
    const asked = { query, mode: "keyword", limit: 20 } as const;
    const results = await search({ sql: mixed.sql, vectorSide: async () => null }, asked);
    expect(results.map(({ url }) => url.slice("https://site.example/".length)).toSorted()).toEqual(names.toSorted());
  });
});

describe("of what an @ joins, the page that holds the whole is first", () => {
  const PAGES = {
    person: "Write to ann@lab.example if you have any questions about what the laboratory does",
    lab: "lab.example: the lab.example site of the Lab. Ann, Ann and Ann work at lab.example",
    clone: "Then clone it by git@code.example:team/tool.git, and build the tool with make in its folder",
    code: "code.example git, the git of code.example: team tool git. git code example team tool",
    module: "It needs left-pad@1.3.0 to run, and nothing else that had to be built by hand before",
    modules: "left-pad left-pad 1.3.0 and left-pad 1.3.0; left-pad 1.3.0",
  };
  let addresses: TestDatabase;
  beforeAll(async () => {
    addresses = await testDatabase();
    await addPages(
      addresses.sql,
      Object.entries(PAGES).map(([name, text]) => ({ url: `https://site.example/${name}`, chunks: [text] })),
    );
  });
  afterAll(() => addresses.drop());

  test.each<[query: string, first: keyof typeof PAGES]>([
    ["ann@lab.example", "person"],
    ["ANN@LAB.EXAMPLE", "person"],
    ["mailto:ann@lab.example", "person"],
    ['"ann@lab.example"', "person"],
    ["git@code.example:team/tool.git", "clone"],
    ["left-pad@1.3.0", "module"],
    ["lab.example", "lab"],
    ["code.example", "code"],
  ])("%s", async (query, first) => {
    const asked = { query, mode: "keyword", limit: 3 } as const;
    const [best] = await search({ sql: addresses.sql, vectorSide: async () => null }, asked);
    expect(best?.url).toBe(`https://site.example/${first}`);
  });
});

describe("exactly these are found", () => {
  test.each<[query: string, names: Name[]]>([
    ['"red and green"', ["redAnd"]],
    ['"red or green"', ["redOr"]],
    ['"RED AND GREEN"', ["redAnd"]],
    ['"red green"', []],
    ['"vitamin A"', ["vitaminA"]],
    ['"vitamin C"', ["vitaminC"]],
    ['"vitamin"', ["vitaminA", "vitaminC"]],
    ['"to be or not to be"', ["hamlet"]],
    ['"or not to"', ["hamlet"]],
    ['"The Who"', ["band"]],
    ['"to who"', []],
    ['"blue whale"', []],
    ['"blue whales"', ["whales"]],
    ["blue whale", ["whales"]],
    ['written hand -"in C"', ["cpp", "csharp"]],
    ['lamps -"red or"', ["redAnd"]],
    ["valve -triton", ["poseidon"]],
    ["1234", ["poseidon"]],
    ["poseidon", ["poseidon"]],
    ["Poseidon1234", ["poseidon"]],
    ["readFile", ["node"]],
    ["readfile", ["node"]],
    ["file", ["node"]],
    ["nodejs", ["node"]],
    ["depth", ["node"]],
    ["maxdepth", ["node"]],
    ["client", ["node"]],
    ["C++", ["cpp"]],
    ["c#", ["csharp"]],
    ["C", ["c", "vitaminC"]],
    ['"C++"', ["cpp"]],
    ['"3.12.1"', ["version"]],
    ['"3-12.1"', []],
    ['"2.10"', ["oldVersion"]],
    ['"2-10"', []],
    ['"2024-01"', ["numbers"]],
    ['"2024–01–15"', ["numbers"]],
    ['"2024.01.15"', []],
    ['"12:45"', ["address"]],
    ['"C++ by"', ["cpp"]],
    ["1234567", ["numbers"]],
    ["7654321", ["german"]],
    ["install", ["host"]],
    ["docs.example.org", ["host"]],
    ["support", ["host"]],
    ["notes", ["host"]],
    ["html", ["host"]],
    ["🚢", ["emoji"]],
    ["🏝", ["emoji"]],
    ["UDP", ["slash"]],
    ["tcp", ["slash"]],
  ])("%s", async (query, names) => {
    expect((await found(query)).toSorted()).toEqual(names.toSorted());
  });

  test.each([
    ["Poseidon1234", ["Poseidon-1234"]],
    ["nodejs", ["Node.js"]],
    ["maxpages limit", ["max_pages", "limit"]],
    ["1234567", ["1,234,567"]],
    ["example.org", ["example", "org", "example"]],
  ])("of what %s finds as a whole, all is highlighted", async (query, marked) => {
    const asked = { query, mode: "keyword", limit: 1 } as const;
    const [result] = await search({ sql: database.sql, vectorSide: async () => null }, asked);
    expect(result?.highlights.map(([start, end]) => result.content.slice(start, end))).toEqual(marked);
  });

  test.each<[query: string, first: Name]>([
    ["Poseidon-1234", "poseidon"],
    ["max_pages", "pages"],
    ["maxPages", "pages"],
    ["max-pages", "pages"],
    ["fs.readFile", "node"],
    ["2024-01-15", "numbers"],
    ["3.14", "numbers"],
    ["2.10.3", "version"],
    ["v2.10.3", "version"],
    ["1,234,567", "numbers"],
    ["7,654,321", "german"],
    ["2.75", "german"],
    ["192.168.10.7", "address"],
    ["12:45", "address"],
    ["https://docs.example.org/guide/", "host"],
    ["TCP/IP", "slash"],
    ["python 3.12.1", "version"],
  ])("%s is found first", async (query, first) => {
    expect((await found(query))[0]).toBe(first);
  });
});
