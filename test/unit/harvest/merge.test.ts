import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeUrls, type ProviderUrls } from "../../../shared/harvest/merge.ts";
import { queryText } from "../../../shared/harvest/query-text.ts";

const found = (lists: Record<string, string[]>): ProviderUrls[] =>
  Object.entries(lists).map(([provider, urls]) => ({ provider, urls }));

describe("merging", () => {
  it("counts distinct providers, and puts what most of them found first, then the best rank", () => {
    const merged = mergeUrls(
      found({
        serper: ["https://a.eu/1", "https://a.eu/2", "https://a.eu/3"],
        google: ["https://a.eu/3", "https://a.eu/4"],
        brave: ["https://a.eu/5", "https://a.eu/3"],
      }),
    );
    expect(merged.map(({ url, providers, confidence }) => [url, providers, confidence])).toEqual([
      ["https://a.eu/3", ["serper", "google", "brave"], 3],
      ["https://a.eu/1", ["serper"], 1],
      ["https://a.eu/5", ["brave"], 1],
      ["https://a.eu/2", ["serper"], 1],
      ["https://a.eu/4", ["google"], 1],
    ]);
  });

  it("takes two spellings of a page for one, and returns that of the best rank", () => {
    const merged = mergeUrls(
      found({
        serper: ["https://x.eu/", "https://A.eu/p?utm_source=serper#top"],
        google: ["https://a.eu:443/p?gclid=7"],
        brave: ["https://bücher.example/", "https://xn--bcher-kva.example"],
      }),
    );
    expect(merged.map(({ url, confidence }) => [url, confidence])).toEqual([
      ["https://a.eu:443/p?gclid=7", 2],
      ["https://x.eu/", 1],
      ["https://bücher.example/", 1],
    ]);
  });

  it.each([
    ["the case of the host", "https://a.eu/p", "HTTPS://A.EU/p"],
    ["a default port", "https://a.eu/p", "https://a.eu:443/p"],
    ["a final dot of the host", "https://a.eu/p", "https://a.eu./p"],
    ["a final dot before a port", "https://a.eu:8443/p", "https://a.eu.:8443/p"],
    ["a host beyond ASCII", "https://bücher.example/p", "https://xn--bcher-kva.example/p"],
    ["an empty path", "https://a.eu", "https://a.eu/"],
    ["steps in the path", "https://a.eu/p", "https://a.eu/x/../p"],
    ["the case of an escape", "https://a.eu/%c3%bc", "https://a.eu/%C3%BC"],
    ["an escape that was not needed", "https://a.eu/~me?q=a-b", "https://a.eu/%7Eme?q=a%2Db"],
    ["an escape that was left out", "https://a.eu/%C3%BC", "https://a.eu/ü"],
    ["a fragment", "https://a.eu/p", "https://a.eu/p#top"],
    ["an empty query", "https://a.eu/p", "https://a.eu/p?"],
    ["campaigns", "https://a.eu/p?id=1", "https://a.eu/p?utm_source=s&id=1&utm_id=7"],
    [
      "clicks",
      "https://a.eu/p",
      "https://a.eu/p?gclid=1&gbraid=2&wbraid=3&gad_source=1&twclid=4&ttclid=5&li_fat_id=6&igsh=7",
    ],
    ["what Google's results carry", "https://a.eu/p", "https://a.eu/p?srsltid=AfmBOo"],
    ["letters to readers", "https://a.eu/p", "https://a.eu/p?mc_cid=1&_hsenc=2&_hsmi=3&mkt_tok=4"],
    ["a tracking name in escapes", "https://a.eu/p", "https://a.eu/p?utm%5Fsource=x"],
  ])("takes spellings for one page that differ in %s", (_what, one, other) => {
    const merged = mergeUrls(found({ serper: [one], google: [other] }));
    expect(merged.map(({ url, confidence }) => [url, confidence])).toEqual([[one, 2]]);
  });

  it.each([
    ["an escaped slash", "https://a.eu/a%2Fb", "https://a.eu/a/b"],
    ["an escaped ampersand", "https://a.eu/?a=1%26b=2", "https://a.eu/?a=1&b=2"],
    ["the case of the path", "https://a.eu/P", "https://a.eu/p"],
    ["a final slash", "https://a.eu/p", "https://a.eu/p/"],
    ["the scheme", "https://a.eu/p", "http://a.eu/p"],
    ["a host", "https://a.eu/p", "https://www.a.eu/p"],
    ["the order of the query", "https://a.eu/?a=1&b=2", "https://a.eu/?b=2&a=1"],
  ])("keeps pages apart that differ in %s", (_what, one, other) => {
    expect(mergeUrls(found({ serper: [one], google: [other] }))).toHaveLength(2);
  });

  it("ranks a page by its place in what the provider returned, whatever stands before it", () => {
    const merged = mergeUrls(
      found({
        serper: ["javascript:x", "ftp://a.eu/", "https://a.eu/3"],
        google: ["https://a.eu/x", "https://a.eu/2"],
      }),
    );
    expect(merged.map(({ url }) => url)).toEqual(["https://a.eu/x", "https://a.eu/2", "https://a.eu/3"]);
  });

  it("counts a provider once however often it returns a page, and leaves out what is no web page", () => {
    const merged = mergeUrls(found({ serper: ["https://a.eu/", "https://a.eu", "ftp://a.eu/", "nonsense", ""] }));
    expect(merged.map(({ url, confidence }) => [url, confidence])).toEqual([["https://a.eu/", 1]]);
  });

  it("loses no page and invents none, in any order of the providers", () => {
    const url = fc.constantFrom("a", "b", "c", "d", "e").map((path) => `https://s.eu/${path}`);
    const lists = fc.dictionary(fc.constantFrom("p", "q", "r"), fc.array(url, { maxLength: 8 }));
    fc.assert(
      fc.property(lists, (given) => {
        const merged = mergeUrls(found(given));
        expect(new Set(merged.map((each) => each.url))).toEqual(new Set(Object.values(given).flat()));
        for (const each of merged) {
          const finders = Object.keys(given).filter((name) => given[name]?.includes(each.url));
          expect([...each.providers].sort()).toEqual(finders.sort());
          expect(each.confidence).toBe(finders.length);
        }
        const confidences = merged.map((each) => each.confidence);
        expect(confidences).toEqual(confidences.toSorted((one, other) => other - one));
        expect(new Set(merged.map((each) => each.dedupeHash)).size).toBe(merged.length);
      }),
    );
  });
});

describe("a query as text", () => {
  it("reads as the reference writes it", () => {
    const text = queryText({
      keywords: ["AI regulation", "AI Act"],
      boolean: "OR",
      filters: { sites: [".eu"], date_after: "{LAST_WEEK_START}", date_before: "{LAST_WEEK_END}" },
    });
    expect(text).toBe('("AI regulation" OR "AI Act") site:.eu after:{LAST_WEEK_START} before:{LAST_WEEK_END}');
  });

  it("quotes what an engine would take for an operator, and lets no quote out", () => {
    const keywords = ["OR", "-x", "site:evil.example", 'say "hi"', "C++", "naïve", "node.js"];
    expect(queryText({ keywords, boolean: "AND", filters: {} })).toBe(
      '"OR" "-x" "site:evil.example" "say hi" C++ naïve node.js',
    );
  });

  it("is refused beyond 512 characters", () => {
    const keywords = Array.from({ length: 12 }, (_, index) => `${index} ${"x".repeat(50)}`);
    expect(() => queryText({ keywords, boolean: "AND", filters: {} })).toThrow(/512/);
  });

  it.each(["x", "🦊"])("counts characters, not their halves: 512 of them are taken, 513 are not: %s", (character) => {
    const text = (count: number) =>
      queryText({
        keywords: [...Array(4).fill(character.repeat(100)), character.repeat(count)],
        boolean: "OR",
        filters: {},
      });
    const quotes = character === "x" ? 0 : 10;
    const most = 512 - 400 - quotes - "( OR  OR  OR  OR )".length;
    expect([...text(most)]).toHaveLength(512);
    expect(() => text(most + 1)).toThrow(/has 513 characters; 512 are the most/);
  });
});
