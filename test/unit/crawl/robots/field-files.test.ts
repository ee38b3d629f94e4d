/**
 * robots.txt files of real sites (test/fixtures/field), with the verdicts of Protego, which reads them by the same RFC.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isAllowed, parseRobots } from "../../../../shared/crawl/robots/rules.ts";

const FIELD = join(import.meta.dirname, "../../../fixtures/field/robots");
const rulesOf = (site: string, token?: string) => parseRobots(readFileSync(join(FIELD, `${site}.txt`)), token);

const OURS: Record<string, { allowed: string[]; refused: string[] }> = {
  "en.wikipedia.org": {
    allowed: ["/wiki/Tide", "/api/rest_v1/?doc", "/w/api.php?action=mobileview&page=Tide"],
    refused: [
      "/w/index.php?title=Tide&action=edit",
      "/wiki/Special:Search",
      "/wiki/Special%3ASearch",
      "/wiki/Wikipedia:Articles_for_deletion/Tide",
    ],
  },
  "www.google.com": {
    allowed: ["/search/about", "/search/howsearchworks", "/maps", "/maps?file=api"],
    refused: ["/search", "/search?q=tide", "/maps?q=tide", "/books?id=x&q=tide", "/imgres"],
  },
  "arxiv.org": { allowed: ["/abs/2401.00001", "/pdf/2401.00001"], refused: ["/e-print/x"] },
  "stackoverflow.com": {
    allowed: ["/questions/1"],
    refused: ["/posts/1", "/users/login?x", "/*/ivc/x", "/questions/tagged/a+b", "/questions/tagged/a%20b"],
  },
  "www.europarl.europa.eu": { allowed: ["/portal/en", "/RegistreWeb/x"], refused: [] },
  "www.imdb.com": { allowed: ["/title/tt1"], refused: ["/OnThisDay", "/find?q=x"] },
  "www.reddit.com": {
    allowed: ["/r/tides", "/r/tides/login", "/r/tides?sort=new", "/r/tides/search?x"],
    refused: ["/r/tides.json"],
  },
  "www.amazon.com": {
    allowed: ["/dp/1", "/wishlist/universal", "/gp/wishlist/universal-x"],
    refused: ["/gp/cart", "/gp/cart/x"],
  },
  "www.nytimes.com": { allowed: ["/2024/01/01/x.html", "/search", "/ads/public/x"], refused: ["/ads/x"] },
  // a page in HTML where robots.txt was asked for
  "103.88.218.109": { allowed: ["/", "/anything"], refused: [] },
};

describe.each(Object.entries(OURS))("the robots.txt of %s", (site, { allowed, refused }) => {
  const verdict = (path: string): boolean => isAllowed(rulesOf(site), new URL(path, `https://${site}`));

  test("allows what it allows to everybody", () => {
    expect(allowed.filter((path) => !verdict(path))).toEqual([]);
  });

  test("refuses what it refuses to everybody", () => {
    expect(refused.filter(verdict)).toEqual([]);
  });
});

test.each([
  ["en.wikipedia.org", "HTTrack", "/wiki/Tide", false],
  ["en.wikipedia.org", "wget", "/wiki/Tide", false],
  ["www.google.com", "AdsBot-Google", "/maps/api/js?", true],
  ["arxiv.org", "Googlebot", "/abs/2401.00001", true],
  ["www.amazon.com", "EtaoSpider", "/dp/1", false],
])("the robots.txt of %s has rules for %s alone: %s → %s", (site, token, path, verdict) => {
  expect(isAllowed(rulesOf(site, token), new URL(path, `https://${site}`))).toBe(verdict);
});

test("delays and sitemaps are read as the sites write them", () => {
  expect(rulesOf("arxiv.org").crawlDelayMs).toBe(15_000);
  expect(rulesOf("arxiv.org", "bingbot").crawlDelayMs).toBe(1_000);
  expect(rulesOf("en.wikipedia.org").crawlDelayMs).toBeNull();
  expect(rulesOf("stackoverflow.com").sitemaps).toEqual(["https://stackoverflow.com/sitemap.xml"]);
  expect(rulesOf("www.nytimes.com").sitemaps).toHaveLength(6);
  expect(rulesOf("103.88.218.109")).toEqual({ rules: [], crawlDelayMs: null, sitemaps: [] });
});
