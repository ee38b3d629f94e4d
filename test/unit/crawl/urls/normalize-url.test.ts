import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { keyRules, normalizeUrl } from "../../../../shared/crawl/urls/normalize-url.ts";

const TOKEN = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";

describe("a session id is no part of the key", () => {
  test.each([
    [`/shop/item;jsessionid=${TOKEN}`, "/shop/item"],
    [`/shop/item;jsessionid=${TOKEN}.node1?a=1`, "/shop/item?a=1"],
    [`/shop;JSESSIONID=${TOKEN}/item`, "/shop/item"],
    [`/(S(${TOKEN.slice(0, 24)}))/page.aspx`, "/page.aspx"],
    [`/a?PHPSESSID=${TOKEN}`, "/a"],
    [`/a?b=1&phpsessid=${TOKEN}&c=2`, "/a?b=1&c=2"],
    [`/a?ASPSESSIONIDABCDEFGH=${TOKEN}`, "/a"],
    [`/a?sid=${TOKEN}&b=1`, "/a?b=1"],
    [`/a?session_id=${TOKEN}`, "/a"],
    ["/a?CFID=123&CFTOKEN=456&b", "/a?b"],
  ])("%s", (path, key) => expect(normalizeUrl(`http://a.example${path}`)).toBe(`http://a.example${key}`));

  test.each([
    "/a?sid=12",
    "/a?s=search+words",
    "/a?session_id=talk-4",
    "/a;v=1",
    "/a?session=2024",
    "/f(x)/",
    "/(x)/a",
  ])("but %s holds none", (path) => expect(normalizeUrl(`http://a.example${path}`)).toBe(`http://a.example${path}`));

  test("unless the config says that it is", () => {
    const rules = keyRules(crawlConfigSchema.parse({ session_ids: "keep" }));
    const url = `http://a.example/a;jsessionid=${TOKEN}?sid=${TOKEN}`;
    expect(normalizeUrl(`${url}&utm_source=x`, rules)).toBe(url);
  });
});

test("parameters that the config ignores are no part of the key, in any case of letters", () => {
  const rules = keyRules(crawlConfigSchema.parse({ ignore_parameters: ["Sort", "view"] }));
  const encoded = keyRules(crawlConfigSchema.parse({ ignore_parameters: ["Größe", "a b", "filter[x]", "%E9"] }));
  const query =
    "gr%C3%B6%c3%9fe=1&GR%C3%96%C3%9FE=1&a+b=1&a%20b=2&filter%5Bx%5D=1&filter[x]=1&%e9=1&größe=1&keep=%C3%B6";
  expect(normalizeUrl(`https://a.example/?${query}`, encoded)).toBe("https://a.example/?keep=%C3%B6");
  expect(normalizeUrl("http://a.example/a?sort=up&VIEW=list&q=1&sorted=2", rules)).toBe(
    "http://a.example/a?q=1&sorted=2",
  );
});

test("what is normalised stays as it is", () => {
  const path = fc
    .array(fc.constantFrom(";jsessionid=1", ";", "/", "(S(x))", "?", "&", "sid=", TOKEN, "a", "=", "#", "%3B", "."), {
      maxLength: 12,
    })
    .map((parts) => `http://a.example/${parts.join("")}`);
  fc.assert(
    fc.property(path, (url) => {
      const once = normalizeUrl(url);
      expect(normalizeUrl(once)).toBe(once);
    }),
    { numRuns: 1000 },
  );
});
