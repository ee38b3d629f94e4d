import fc from "fast-check";
import { expect, test } from "vitest";
import { keywordsOf, relevanceOf, TITLE_WEIGHT, urlFields } from "../../../../shared/crawl/urls/relevance.ts";

const scoreOf = (query: string, url: string, title?: string): number =>
  relevanceOf(keywordsOf(query), [
    ...urlFields(new URL(url)),
    ...(title === undefined ? [] : [{ text: title, weight: TITLE_WEIGHT }]),
  ]);

test("keywords are the distinct words of a query, without those that say nothing", () => {
  expect(keywordsOf("How to install the Widget, install it")).toEqual(["install", "widget"]);
  expect(keywordsOf("to be or")).toEqual(["to", "be", "or"]);
  expect(keywordsOf(" ?! ")).toEqual([]);
});

test("a keyword of the path is worth 0.6, of the query string 0.4, of the host 0.3", () => {
  expect(scoreOf("pricing", "https://a.example/pricing")).toBeCloseTo(0.6);
  expect(scoreOf("pricing", "https://a.example/?topic=pricing")).toBeCloseTo(0.4);
  expect(scoreOf("pricing", "https://pricing.example/")).toBeCloseTo(0.3);
});

test("what several fields say adds up, and never exceeds 1", () => {
  const path = scoreOf("pricing", "https://a.example/pricing");
  const both = scoreOf("pricing", "https://a.example/pricing", "Pricing and plans");
  expect(both).toBeCloseTo(1 - 0.4 * 0.3);
  expect(both).toBeGreaterThan(path);
});

test("half of the keywords is half of the score", () => {
  expect(scoreOf("pricing plans", "https://a.example/pricing")).toBeCloseTo(0.3);
});

test("a word that begins with the keyword counts for less, a short one not at all", () => {
  expect(scoreOf("price", "https://a.example/prices")).toBeCloseTo(0.45);
  expect(scoreOf("cat", "https://a.example/catalogue")).toBe(0);
});

test("words are found through percent-encoding, case and camel case", () => {
  expect(scoreOf("über", "https://a.example/%C3%9Cber-uns")).toBeCloseTo(0.6);
  expect(scoreOf("started", "https://a.example/gettingStarted.html")).toBeCloseTo(0.6);
  expect(scoreOf("price", "https://a.example/%E0%A4%A/price")).toBeCloseTo(0.6);
});

test("any query and any URL score between 0 and 1", () => {
  fc.assert(
    fc.property(fc.string(), fc.webUrl({ withQueryParameters: true }), fc.string(), (query, url, title) => {
      const score = scoreOf(query, url, title);
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(1);
    }),
  );
});
