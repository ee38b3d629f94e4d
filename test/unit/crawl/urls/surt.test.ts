import fc from "fast-check";
import { expect, it } from "vitest";
import { MAX_KEY_LENGTH, surtOf, urlKey } from "../../../../shared/crawl/urls/surt.ts";

// as the package `surt` of PyPI makes them
it.each([
  ["https://www.Example.org:443/A/?b=2&a=1#top", "org,example)/a?a=1&b=2"],
  ["http://www2.example.org", "org,example)/"],
  ["http://www.com", "com)/"],
  ["example.org/x", "org,example)/x"],
  ["http://user:pass@example.org:8080/x", "org,example:8080)/x"],
  ["https://example.org:80/", "org,example:80)/"],
  ["http://10.0.0.1:8080/a", "1,0,0,10:8080)/a"],
  ["http://EXAMPLE..org./x", "org,example)/x"],
  ["http://münchen.de/ä?ü=ß", "de,xn--mnchen-3ya)/%c3%a4?%c3%bc=%c3%9f"],
  ["http://example.org/a//b/../c/./d/", "org,example)/a/c/d"],
  ["http://example.org/%7Eu/%25%32%35/a%2Fb%3Fc", "org,example)/~u/%25/a/b?c"],
  ["http://example.org/a?b&a&a=1&a=&c", "org,example)/a?a&a=&a=1&b&c"],
  ["http://example.org/a?b=1=2&a=x+y&d=%20z", "org,example)/a?a=x+y&b=1=2&d=%20z"],
  ["http://example.org/?", "org,example)/"],
  ["http://example.org/a?x=1&PHPSESSID=0123456789abcdef0123456789abcdef", "org,example)/a?&x=1"],
  ["http://example.org/a?x=1&sid=0123456789abcdef0123456789abcdef&y=2", "org,example)/a?x=1&y=2"],
  ["http://example.org/(S(abcdefghijklmnopqrstuvwx))/Page.aspx?x=1", "org,example)/page.aspx?x=1"],
  ["http://example.org/a?x=%E4%F6", "org,example)/a?x=%e4%f6"],
])("the key of %s is %s", (url, key) => {
  expect(surtOf(url)).toBe(key);
});

it("is plain ASCII without blanks for any URL, and the key of itself with a scheme before it", () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
      expect(surtOf(url)).toMatch(/^[!-~]+$/);
      expect(
        surtOf(surtOf(url).replace(/^([^)]*)\)/, (_, host: string) => `${host.split(",").reverse().join(".")}`)),
      ).toBe(surtOf(url));
    }),
  );
});

it("escapes of escapes take no longer than their length says", () => {
  expect(surtOf(`http://example.org/%${"25".repeat(100_000)}41`)).toBe("org,example)/a");
});

it("long keys are cut, and differ where their URLs do", () => {
  const long = `http://example.org/${"x".repeat(5_000)}`;
  const keys = [urlKey(`${long}1`), urlKey(`${long}2`)];
  expect(keys.map(({ length }) => length)).toEqual([MAX_KEY_LENGTH, MAX_KEY_LENGTH]);
  expect(keys[0]).not.toBe(keys[1]);
});
