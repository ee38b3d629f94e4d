import fc from "fast-check";
import { expect, test } from "vitest";
import { linkedUrls } from "../../../../shared/crawl/ingest/links.ts";
import { createScopeCheck } from "../../../../shared/crawl/urls/exact-scope.ts";
import { linkScorer } from "../../../../shared/crawl/urls/relevance.ts";
import { ANYWHERE } from "../../../../shared/crawl/urls/scope.ts";

const url = (path: string): URL => new URL(path, "https://a.example/");
const scope = createScopeCheck(ANYWHERE);

test("a link is worth what its URL and anchor say, and a share of what its page says", () => {
  const scorer = linkScorer(["tide table"]);
  expect(scorer.link(url("/x"), "", 0)).toBe(0);
  expect(scorer.link(url("/x"), "", 1)).toBeCloseTo(0.2);
  expect(scorer.link(url("/x"), "Tide tables", 0)).toBeCloseTo((0.7 + 0.7 * 0.75) / 2);
  expect(scorer.link(url("/tide-table"), "", 0)).toBeCloseTo(0.6);
  expect(scorer.link(url("/tide-table"), "", 0.5)).toBeCloseTo(0.6 + 0.4 * 0.2 * 0.5);
});

test("a score is never below what the URL alone gives, nor above 1", () => {
  const scorer = linkScorer(["harbour", "wall"]);
  fc.assert(
    fc.property(fc.webUrl(), fc.string(), fc.double({ min: 0, max: 1, noNaN: true }), (href, anchor, parent) => {
      const score = scorer.link(new URL(href), anchor, parent);
      expect(score).toBeGreaterThanOrEqual(scorer.link(new URL(href), "", 0) - 1e-12);
      expect(score).toBeLessThanOrEqual(1);
    }),
  );
});

test("links below the threshold are left out, and one that two pages have counts by the better", () => {
  const pages = [
    {
      url: "https://a.example/1",
      depth: 0,
      links: ["https://a.example/x", "https://a.example/y", "https://a.example/z"],
    },
    { url: "https://a.example/2", depth: 0, links: ["https://a.example/y", "https://a.example/z"] },
  ];
  const scores = [
    [0.5, 0.3, 0.1],
    [0.9, 0.2],
  ];
  const of = (_: URL, page: number, position: number): number => scores[page]?.[position] ?? 0;
  const found = linkedUrls(pages, { scope, score: { of, threshold: 0.3 } });
  expect(found.map(({ url, score }) => [url, score])).toEqual([
    ["https://a.example/x", 0.5],
    ["https://a.example/y", 0.9],
  ]);
});
