import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDomain } from "../../../../shared/crawl/administration/domain-name.ts";
import { hostOf } from "../../../../shared/crawl/urls/normalize-url.ts";

test.each([
  ["example.com", "example.com"],
  ["EXAMPLE.Com.", "example.com"],
  ["example.com:8080", "example.com:8080"],
  ["example.com:80", "example.com"],
  ["example.com:443", "example.com"],
  ["münchen.example", "xn--mnchen-3ya.example"],
  ["例え.テスト", "xn--r8jz45g.xn--zckzah"],
  ["under_score.example", "under_score.example"],
  ["127.0.0.1:9000", "127.0.0.1:9000"],
  ["0x7f.1", "127.0.0.1"],
  ["[2001:DB8::1]:8080", "[2001:db8::1]:8080"],
])("%s is the domain %s", (text, domain) => {
  expect(parseDomain(text)).toBe(domain);
});

test.each([
  [""],
  ["."],
  ["a..b"],
  ["*"],
  ["*.example.com"],
  ["a*.example.com:8080"],
  ["exa$mple.com"],
  ["a,b.example"],
  ["{host}"],
  [`${"a".repeat(64)}.example`],
  [".example.com"],
  ["example.com.."],
  ["example.com/"],
  ["example.com/path"],
  ["example.com?q"],
  ["example.com#f"],
  ["http://example.com"],
  ["user@example.com"],
  ["user:password@example.com"],
  ["a\\b.example"],
  ["exa mple.com"],
  ["example.com\n"],
  ["exam\0ple.com"],
  ["example.com:"],
  ["example.com:0"],
  ["example.com:65536"],
  ["example.com:http"],
  ["[::1"],
  ["999.1.1.1"],
  ["a".repeat(254)],
  ["a".repeat(10_240)],
  ["xn--\ud800.example"],
])("%j is refused, and the answer names the field", (text) => {
  expect(() => parseDomain(text)).toThrow(
    expect.objectContaining({ status: 400, code: "VALIDATION_ERROR", message: expect.stringMatching(/^domain: /) }),
  );
});

test("whatever is taken is the host of a URL and stays itself; whatever else is thrown is a 400", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.domain(), fc.ipV4(), fc.ipV6()), (text) => {
      let domain: string;
      try {
        domain = parseDomain(text);
      } catch (error) {
        expect(error).toMatchObject({ status: 400 });
        return;
      }
      expect(hostOf(`http://${domain}/`)).toBe(domain);
      expect(parseDomain(domain)).toBe(domain);
    }),
    { numRuns: 2000 },
  );
});
