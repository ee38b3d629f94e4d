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
