import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createScopeCheck } from "../../../../shared/crawl/urls/exact-scope.ts";
import type { Scope } from "../../../../shared/crawl/urls/scope.ts";
import { inScope, taskScope } from "../../../../shared/crawl/urls/scope.ts";
import { scopeOfSeeds, urlPatternsSchema } from "../../../../shared/crawl/urls/scope-of-seeds.ts";

const admits = (scope: Scope, url: string, isSeed = false) => createScopeCheck(scope).admits(new URL(url), isSeed);

describe.each<[string, Scope["mode"], string[], string[], string[]]>([
  [
    "host: the very host and port, whatever the scheme",
    "host",
    ["https://www.example.com/a", "http://b.example:8080/"],
    ["https://www.example.com/", "http://www.example.com/x?y=1", "http://b.example:8080/z"],
    ["https://example.com/", "https://a.www.example.com/", "http://b.example/", "https://www.example.com.evil.test/"],
  ],
  [
    "domain: every host of the registrable domain, and no neighbour below a public suffix",
    "domain",
    ["https://www.example.co.uk/", "https://docs.amazonaws.com/"],
    ["https://example.co.uk/", "https://a.b.example.co.uk:8443/", "https://amazonaws.com/"],
    ["https://other.co.uk/", "https://notexample.co.uk/", "https://bucket.s3.amazonaws.com/", "https://co.uk/"],
  ],
  [
    "domain: a host below a private registry's suffix is one of its own",
    "domain",
    ["https://someone.github.io/"],
    ["https://someone.github.io/x", "https://www.someone.github.io/"],
    ["https://else.github.io/", "https://github.io/"],
  ],
  [
    "domain: an address stands for itself, on each of its ports",
    "domain",
    ["http://127.0.0.1:8080/", "http://[::1]/"],
    ["http://127.0.0.1:9090/", "http://[::1]:81/"],
    ["http://127.0.0.2/", "http://1.127.0.0.1.example/"],
  ],
  [
    "prefix: the path and what lies below it, on the boundary of a segment",
    "prefix",
    ["https://e.example/docs", "https://e.example/guide/intro.html", "https://e.example/api/"],
    [
      "https://e.example/docs",
      "http://e.example/docs/a?b",
      "https://e.example/docs?x=/",
      "https://e.example/guide/b",
      "https://e.example/api/",
    ],
    [
      "https://e.example/docs-old/",
      "https://e.example/guide",
      "https://e.example/apiary",
      "https://e.example/",
      "https://e.example/docs/../x",
      "https://e.example/%64ocs/",
      "https://f.example/docs/",
    ],
  ],
  ["any: everywhere", "any", ["https://e.example/"], ["https://f.example/"], []],
])("%s", (_, mode, seeds, inside, outside) => {
  const scope = scopeOfSeeds(seeds, { mode });
  test.each([...seeds, ...inside])("%s belongs to it", (url) => {
    expect(admits(scope, url)).toBe(true);
    expect(inScope(new URL(url), scope)).toBe(true);
  });
  if (outside.length > 0) test.each(outside)("%s does not", (url) => expect(admits(scope, url)).toBe(false));
});

test("fetch lets through all that ingest admits", () => {
  const hosts = ["example.com", "www.example.com", "a.s3.amazonaws.com", "amazonaws.com", "127.0.0.1:81", "co.uk"];
  const url = fc
    .tuple(fc.constantFrom(...hosts), fc.constantFrom("", "docs", "docs/", "docs/a.html", "docs-old/x"))
    .map(([host, path]) => `http://${host}/${path}`);
  const mode = fc.constantFrom<Scope["mode"]>("host", "domain", "prefix", "any");
  fc.assert(
    fc.property(fc.array(url, { minLength: 1 }), mode, url, (seeds, mode, candidate) => {
      const scope = scopeOfSeeds(seeds, { mode });
      if (admits(scope, candidate)) expect(inScope(new URL(candidate), scope)).toBe(true);
    }),
  );
});

test("include and exclude are found anywhere in the normalised URL, and exclude wins", () => {
  const scope = scopeOfSeeds(["http://e.example/"], {
    mode: "host",
    include: ["/article/", "^http://e\\.example/\\d{4}$"],
    exclude: ["[?&]print=", "(?i)DRAFT"],
  });
  expect(["/article/1", "/x/article/", "/2024"].map((path) => admits(scope, `http://e.example${path}`))).toEqual([
    true,
    true,
    true,
  ]);
  const refused = ["/articles", "/20245", "/article/1?print=1", "/article/draft", "/"];
  expect(refused.filter((path) => admits(scope, `http://e.example${path}`))).toEqual([]);
});

test("a seed need not match include, but must not match exclude", () => {
  const scope = scopeOfSeeds(["http://e.example/"], { mode: "host", include: ["/article/"], exclude: ["logout"] });
  expect(admits(scope, "http://e.example/", true)).toBe(true);
  expect(admits(scope, "http://e.example/logout", true)).toBe(false);
  expect(admits(scope, "http://f.example/", true)).toBe(false);
});

test.each(["(", "a**", "(?=x)", "(?<=a)b", "\\1", "x{1001}", "(a{1000}){1000}", `${"(a|b){90}".repeat(9)}`])(
  "the pattern %s is refused with its field",
  (pattern) => {
    expect(() => scopeOfSeeds(["http://e.example/"], { mode: "host", exclude: ["fine", pattern] })).toThrow(
      expect.objectContaining({
        status: 400,
        code: "VALIDATION_ERROR",
        message: expect.stringContaining(`exclude[1]: the pattern "${pattern}"`),
      }),
    );
    const { error } = urlPatternsSchema.safeParse(["fine", pattern]);
    expect(error?.issues).toMatchObject([{ path: [1], message: expect.stringContaining(pattern) }]);
  },
);

test("a pattern that is exponential elsewhere is linear here", () => {
  const scope = scopeOfSeeds(["http://e.example/"], { mode: "any", exclude: ["(a+)+$", "(a|aa)*b$", "(.*)*x$"] });
  const url = `http://e.example/${"a".repeat(2000)}!`;
  const started = process.cpuUsage();
  expect(admits(scope, url)).toBe(true);
  expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
});

test("patterns that are fine one by one and too much together are refused, at the one that is too much", () => {
  const many = Array.from({ length: 50 }, (_, at) => `[a-z0-9]{0,${80 + at}}[YZ]`);
  const { error } = urlPatternsSchema.safeParse(many);
  expect(error?.issues).toMatchObject([{ path: [8], message: expect.stringContaining("at most 1500") }]);
  expect(() => scopeOfSeeds(["http://e.example/"], { mode: "host", include: many })).toThrow(
    expect.objectContaining({ code: "VALIDATION_ERROR", message: expect.stringContaining("include[8]") }),
  );
  const honest = Array.from({ length: 50 }, (_, at) => `^https?://[^/]+/topic-${at}/`);
  expect(urlPatternsSchema.safeParse(honest).success).toBe(true);
});

test("a pattern whose automaton has a state for each character costs no more than others do", () => {
  const exclude = Array.from({ length: 7 }, (_, at) => `(?i)[a-f0]\\pL{0,3}.{${90 + at}}[YZ]`);
  const check = createScopeCheck(scopeOfSeeds(["http://e.example/"], { mode: "any", exclude }));
  const path = (at: number): string => createHash("shake256", { outputLength: 900 }).update(String(at)).digest("hex");
  const urls = Array.from({ length: 30 }, (_, at) => `http://e.example/${path(at)}`);
  const started = process.cpuUsage();
  expect(urls.every((url) => check.admits(new URL(url)))).toBe(true);
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});

test("a task carries all roots of a job of few, and of a job of thousands those of its own host", () => {
  const seeds = Array.from({ length: 10_000 }, (_, at) => `https://www.site${at}.example/`);
  const few = scopeOfSeeds(seeds.slice(0, 20), { mode: "host" });
  expect(taskScope(few, "www.site3.example").roots).toHaveLength(20);
  for (const [mode, root] of [
    ["host", "www.site77.example"],
    ["domain", "site77.example"],
    ["prefix", "www.site77.example/"],
  ] as const) {
    expect(taskScope(scopeOfSeeds(seeds, { mode }), "www.site77.example").roots).toEqual([root]);
  }
  expect(taskScope(scopeOfSeeds(seeds, { mode: "host", include: ["x"] }), "www.site1.example").include).toEqual([]);
});

test.each([
  ["/größe/", "/gr%C3%B6%C3%9Fe/1", true],
  ["/gr%C3%B6%C3%9Fe/", "/gr%C3%B6%C3%9Fe/1", true],
  ["/größe/", "/größe/1", true],
  ["^http://e\\.example/日本/$", "/%E6%97%A5%E6%9C%AC/", true],
  ["q=.*é", "/?q=caf%C3%A9", true],
  // neither UTF-8 nor beyond ASCII
  ["/größe/", "/gr%F6%DFe/1", false],
  ["/a/b", "/a%2Fb", false],
])("the pattern %s finds %s: %s", (pattern, path, found) => {
  const url = new URL(path, "http://e.example/").href;
  const mode = "host" as const;
  const seeds = ["http://e.example/"];
  expect(admits(scopeOfSeeds(seeds, { mode, include: [pattern] }), url)).toBe(found);
  expect(admits(scopeOfSeeds(seeds, { mode, exclude: [pattern] }), url)).toBe(!found);
});
