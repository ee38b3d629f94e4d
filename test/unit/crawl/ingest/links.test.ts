import fc from "fast-check";
import { expect, test } from "vitest";
import { linkedUrls } from "../../../../shared/crawl/ingest/links.ts";
import { createScopeCheck } from "../../../../shared/crawl/urls/exact-scope.ts";
import { normalizeUrl, urlHash } from "../../../../shared/crawl/urls/normalize-url.ts";
import { ANYWHERE, hostScope } from "../../../../shared/crawl/urls/scope.ts";

const host = createScopeCheck(hostScope("a.example"));
const anywhere = createScopeCheck(ANYWHERE);
const from = (links: string[], depth = 0) => ({ url: "http://a.example/", depth, links });

test("links keep their order, and each page counts once", () => {
  const links = [
    "http://a.example/b",
    "http://a.example/a",
    "http://a.example/b#x",
    "http://a.example/a?utm_source=y",
    "http://a.example/b?#",
  ];
  expect(linkedUrls([from(links)], { scope: host }).map((each) => each.url)).toEqual([
    "http://a.example/b",
    "http://a.example/a",
  ]);
});

test("other hosts, other ports, other schemes and what is no URL are left out", () => {
  const links = ["http://b.example/", "http://a.example:8080/", "mailto:a@a.example", "nonsense", "ftp://a.example/"];
  expect(linkedUrls([from(links)], { scope: host })).toEqual([]);
  expect(linkedUrls([from(links)], { scope: anywhere }).map((each) => each.url)).toEqual([
    "http://b.example/",
    "http://a.example:8080/",
  ]);
});

test("URLs longer than the URL guard allows are left out", () => {
  expect(linkedUrls([from([`http://a.example/${"x".repeat(2048)}`])], { scope: host })).toEqual([]);
});

test("a page that two pages link to gets the lesser depth", () => {
  const links = ["http://a.example/x"];
  const found = linkedUrls([{ ...from(links, 3), url: "http://a.example/deep" }, from(links, 1)], { scope: host });
  expect(found).toMatchObject([{ depth: 2, discoveredFrom: "http://a.example/" }]);
});

test("whatever a page links to: what is found is normalised, in scope, unique, and one deeper", () => {
  const link = fc.oneof(fc.webUrl({ withFragments: true, withQueryParameters: true }), fc.string());
  fc.assert(
    fc.property(fc.array(link), fc.nat(10), (links, depth) => {
      const found = linkedUrls([from(links, depth)], { scope: anywhere });
      expect(new Set(found.map((each) => each.urlHash)).size).toBe(found.length);
      for (const each of found) {
        expect(each).toMatchObject({ url: normalizeUrl(each.url), urlHash: urlHash(each.url), depth: depth + 1 });
      }
    }),
  );
});

test("links that are seen are left out, and of the others it is told what became of them", () => {
  const links = ["http://a.example/a#x", "http://a.example/b", "http://b.example/", "mailto:a@a.example"];
  const became = new Map<string, string | null>();
  const found = linkedUrls([from(links)], {
    scope: host,
    seen: new Set(["http://a.example/b"]),
    note: (link, url) => void became.set(link, url),
  });
  expect(found.map((each) => each.url)).toEqual(["http://a.example/a"]);
  expect([...became]).toEqual([
    ["http://a.example/a#x", "http://a.example/a"],
    ["http://b.example/", null],
    ["mailto:a@a.example", null],
  ]);
});
