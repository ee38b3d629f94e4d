import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expandPlaceholders } from "../../../shared/harvest/expansion.ts";
import { searxng } from "../../../shared/harvest/providers/searxng.ts";
import { InvalidQuery, parseNeutralQuery } from "../../../shared/harvest/query-schema.ts";
import { queryText } from "../../../shared/harvest/query-text.ts";

const parse = (value: unknown) => parseNeutralQuery(JSON.stringify(value));

describe("a model that answers in bad faith is refused with", () => {
  it.each<[string, string, RegExp]>([
    ["a field twice", '{"keywords":["a"],"keywords":["b"]}', /^field keywords stands twice$/],
    ["a field twice, once in escapes", '{"keywords":["a"],"\\u006beywords":["b"]}', /^field keywords stands twice$/],
    ["a filter twice", '{"keywords":["a"],"filters":{"lang":"en","lang":"fr"}}', /^field lang stands twice$/],
    ["a prototype", '{"keywords":["a"],"__proto__":{"boolean":"OR"}}', /unknown field __proto__/],
    ["a prototype of the filters", '{"keywords":["a"],"filters":{"__proto__":{"lang":"en"}}}', /unknown field filters/],
    ["lists 16,000 deep", "[".repeat(16_000) + "]".repeat(16_000), /nested more than 8 deep/],
    ["objects that are deep", `${'{"keywords":'.repeat(99)}1${"}".repeat(99)}`, /nested more than 8 deep/],
    ["a megabyte", JSON.stringify({ keywords: ["a".repeat(1_000_000)] }), /longer than 32768 characters/],
    ["a byte order mark", '\ufeff{"keywords":["a"]}', /not JSON/],
    ["a comment", '{"keywords":["a"]} // done', /not JSON/],
    ["two objects", '{"keywords":["a"]}{"keywords":["b"]}', /not JSON/],
    ["a list in the list", '{"keywords":[["a"]]}', /keywords\.0/],
    ["a number beyond all numbers", '{"keywords":["a"],"filters":{"max_results":1e400}}', /max_results/],
    ["a fraction", '{"keywords":["a"],"filters":{"max_results":1.5}}', /max_results/],
    ["filters that are nothing", '{"keywords":["a"],"filters":null}', /filters/],
    ["NUL", '{"keywords":["a\\u0000b"]}', /control characters/],
    ["half a character", '{"keywords":["a\\ud800"]}', /broken Unicode/],
    ["a line break", '{"keywords":["a\\nb"]}', /control characters/],
    ["a keyword of quotes alone", '{"keywords":["\\" \\""]}', /a keyword is empty/],
    ["a site that is a path", '{"keywords":["a"],"filters":{"sites":["a.eu/x"]}}', /not a domain/],
    ["a site with an operator", '{"keywords":["a"],"filters":{"sites":["a.eu OR site:b.eu"]}}', /not a domain/],
    [
      "a site beyond ASCII that is a path",
      '{"keywords":["a"],"filters":{"sites":["bücher.example/x"]}}',
      /not a domain/,
    ],
    ["a site beyond ASCII with a query", '{"keywords":["a"],"filters":{"sites":["bücher.example?x"]}}', /not a domain/],
    ["a site beyond ASCII with a tab", '{"keywords":["a"],"filters":{"sites":["bü\\tcher.example"]}}', /not a domain/],
    ["a site that hides an address", '{"keywords":["a"],"filters":{"sites":["１２７.1"]}}', /not a domain/],
    ["a site whose slash is wide", '{"keywords":["a"],"filters":{"sites":["bücher.example／x"]}}', /not a domain/],
    ["a keyword that shows nothing", '{"keywords":["\\u200b\\u2060"]}', /a keyword is empty/],
    ["a site that is a dot", '{"keywords":["a"],"filters":{"sites":["."]}}', /not a domain/],
    ["a site that no name can be", '{"keywords":["a"],"filters":{"sites":["ü..example"]}}', /not a domain/],
    ["the year nought", '{"keywords":["a"],"filters":{"date_after":"0000-01-01"}}', /neither a date/],
  ])("%s", (_what, text, reason) => {
    expect(() => parseNeutralQuery(text)).toThrow(InvalidQuery);
    expect(() => parseNeutralQuery(text)).toThrow(reason);
  });

  it("a short reason, however much is wrong", () => {
    const faults = [
      { keywords: Array(9000).fill(1) },
      { keywords: ["a"], [`x${"y".repeat(9000)}`]: 1 },
      { keywords: [`{${"Z".repeat(9000)}}`] },
      { keywords: [`{${"Z".repeat(150)}`] },
      { keywords: ["a"], filters: { date_after: "9".repeat(9000) } },
    ];
    for (const each of faults) {
      const refused = (() => {
        try {
          return String(parse(each));
        } catch (error) {
          return String(error);
        }
      })();
      expect(refused).toMatch(/^InvalidQuery/);
      expect(refused.length).toBeLessThan(700);
    }
  });

  it("nothing but InvalidQuery, whatever it answers; what is taken can be stored and asked for", () => {
    const word = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom('"', "{TODAY}", "a", ".eu", "2026-01-01", "EU"),
    );
    const fields = fc.record(
      {
        keywords: fc.oneof(fc.array(word, { maxLength: 14 }), word),
        boolean: fc.oneof(fc.constantFrom("AND", "OR"), word),
        filters: fc.record(
          { sites: fc.array(word), date_after: word, lang: word, geo: word, max_results: fc.double() },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    );
    const answers = fc.oneof(
      fields.map((each) => JSON.stringify(each)),
      fc.json(),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(answers, (text) => {
        try {
          const query = parseNeutralQuery(text);
          expect(JSON.stringify(query)).not.toMatch(/\\u0000|\\ud[89a-f]/i);
          expect(queryText(query)).not.toMatch(/(^|[ (])""/);
        } catch (error) {
          if (!/QueryTooLong/.test(String(error))) expect(error).toBeInstanceOf(InvalidQuery);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("what is another spelling of the same is taken", () => {
  it.each([
    ["bücher.example", "xn--bcher-kva.example"],
    [".рф", ".xn--p1ai"],
    ["例え。テスト", "xn--r8jz45g.xn--zckzah"],
    ["Example.COM", "example.com"],
    [".EU", ".eu"],
  ])("the site %s as %s", (given, site) => {
    expect(parse({ keywords: ["a"], filters: { sites: [given] } }).filters.sites).toEqual([site]);
  });
});

it.each([
  ["news !images today", '"news images today"'],
  ["go !!g there", '"go g there"'],
  ["where :fr is", '"where fr is"'],
  ["wait <3 long", '"wait 3 long"'],
  ["so !! lucky", '"so lucky"'],
  ["!images", '"!images"'],
])(
  "SearXNG finds no command of its own in the keyword %s, which it reads at the beginning of any word",
  (keyword, q) => {
    const query = expandPlaceholders({ keywords: [keyword, "a"], boolean: "AND", filters: {} }, 0);
    const { url } = searxng
      .compile(query, 0)
      .call({ endpoint: "http://s.example", apiKey: null, engineId: null }, 0, 10);
    expect(url.searchParams.get("q")).toBe(`${q} a`);
  },
);

it.each([
  ["2010..2020", '"2010..2020"'],
  ["say “hello”", '"say hello"'],
  ["site:a.eu", '"site:a.eu"'],
  ["v1.2.3", "v1.2.3"],
])("the keyword %s is written as %s, without an operator of its own", (keyword, text) => {
  expect(queryText({ keywords: [keyword], boolean: "AND", filters: {} })).toBe(text);
});
