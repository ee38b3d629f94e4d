import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAllowed, normalizePath, parseRobots, ROBOTS_MAX_BYTES } from "../../../../shared/crawl/robots/rules.ts";

const allowed = (robots: string, path: string): boolean =>
  isAllowed(parseRobots(Buffer.from(robots)), new URL(path, "https://example.org"));

/** A group for everyone with these rules. */
const all = (...rules: string[]): string => ["User-agent: *", ...rules].join("\n");

describe("matching", () => {
  it.each([
    // the examples of RFC 9309 section 2.2.2 and of Google's documentation
    ["Disallow: /", "/anything", false],
    ["Disallow: /fish", "/fish", false],
    ["Disallow: /fish", "/fish.html", false],
    ["Disallow: /fish", "/fishheads/yummy.html", false],
    ["Disallow: /fish", "/fish.php?id=anything", false],
    ["Disallow: /fish", "/Fish.asp", true],
    ["Disallow: /fish", "/catfish", true],
    ["Disallow: /fish*", "/fish.html", false],
    ["Disallow: /fish/", "/fish", true],
    ["Disallow: /fish/", "/fish/salmon.htm", false],
    ["Disallow: /*.php", "/filename.php?parameters", false],
    ["Disallow: /*.php", "/folder/any.php.file.html", false],
    ["Disallow: /*.php", "/windows.PHP", true],
    ["Disallow: /*.php$", "/filename.php", false],
    ["Disallow: /*.php$", "/filename.php?parameters", true],
    ["Disallow: /*.php$", "/filename.php5", true],
    ["Disallow: /fish*.php", "/fishheads/catfish.php?parameters", false],
    ["Disallow: /fish*.php", "/Fish.PHP", true],
    ["Disallow: *", "/x", false],
    ["Disallow: /$", "/", false],
    ["Disallow: /$", "/x", true],
    ["Disallow: /a**b", "/a-b", false],
    ["Disallow: /*ab$", "/abab", false],
    ["Disallow: /a$b", "/a$b", false],
    ["Disallow: /a$b", "/a", true],
    ["Disallow:", "/x", true],
    ["Disallow: /x?y=", "/x?y=1", false],
    ["Disallow: /path/file-with-a-%2A.html", "/path/file-with-a-*.html", false],
    ["Disallow: /path/foo-%24", "/path/foo-$", false],
    ["Disallow: /foo/bar/ツ", "/foo/bar/%E3%83%84", false],
    ["Disallow: /foo/bar/%E3%83%84", "/foo/bar/ツ", false],
    ["Disallow: /foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", false],
    ["Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz", false],
    ["Disallow: /a%2Fb", "/a/b", true],
    ["Disallow: /a%3cd.html", "/a%3Cd.html", false],
  ])("%s on %s", (rule, path, expected) => {
    expect(allowed(all(rule), path)).toBe(expected);
  });

  it("the longest match wins, and of two as long the one that allows", () => {
    expect(allowed(all("Allow: /p", "Disallow: /"), "/page")).toBe(true);
    expect(allowed(all("Disallow: /", "Allow: /p"), "/page")).toBe(true);
    expect(allowed(all("Allow: /folder", "Disallow: /folder"), "/folder/page")).toBe(true);
    expect(allowed(all("Allow: /page", "Disallow: /*.htm"), "/page.htm")).toBe(false);
    expect(allowed(all("Allow: /page", "Disallow: /*.ph"), "/page.php5")).toBe(true);
    expect(allowed(all("Allow: /$", "Disallow: /"), "/")).toBe(true);
    expect(allowed(all("Allow: /$", "Disallow: /"), "/page.htm")).toBe(false);
  });

  it("robots.txt itself is always allowed", () => {
    expect(allowed(all("Disallow: /"), "/robots.txt")).toBe(true);
  });

  it("takes linear time for patterns made to be slow", () => {
    const pattern = `/${"a*".repeat(2000)}b$`;
    const spaces = `Allow: x${" ".repeat(400_000)}y\nuser-agent${"-".repeat(50_000)}`;
    const started = process.cpuUsage();
    expect(allowed(all(spaces), "/z")).toBe(true);
    expect(allowed(all(`Disallow: ${pattern}`), `/${"a".repeat(20_000)}c`)).toBe(true);
    const { user } = process.cpuUsage(started);
    expect(user / 1000).toBeLessThan(500);
  });

  it("a path is forbidden by its own text as a pattern, however it is spelt", () => {
    fc.assert(
      fc.property(fc.webPath(), (path) => {
        const url = new URL(`https://example.org${path}`);
        if (url.pathname === "/robots.txt") return;
        const spelt = normalizePath(url.pathname);
        expect(isAllowed(parseRobots(Buffer.from(all(`Disallow: ${spelt}`))), url)).toBe(false);
        expect(normalizePath(spelt)).toBe(spelt);
      }),
    );
  });
});

describe("groups", () => {
  const robots = [
    "User-agent: other",
    "User-agent: Strandline/2.0",
    "Disallow: /ours",
    "",
    "user-agent:*",
    "Disallow: /",
    "User-Agent: STRANDLINE",
    "Disallow: /more",
    "Crawl-delay: 2.5",
  ].join("\r\n");

  it("for us are merged, and the one for everyone does not count then", () => {
    expect(allowed(robots, "/ours")).toBe(false);
    expect(allowed(robots, "/more")).toBe(false);
    expect(allowed(robots, "/else")).toBe(true);
    expect(parseRobots(Buffer.from(robots)).crawlDelayMs).toBe(2500);
  });

  it("for a longer name are not ours", () => {
    expect(allowed("User-agent: strandlinebot\nDisallow: /\n", "/x")).toBe(true);
    expect(allowed("User-agent: strand\nDisallow: /\n", "/x")).toBe(true);
  });

  it("survive records that are not of the RFC", () => {
    const text =
      "User-agent: *\nCrawl-delay: 1\nSitemap: https://e.org/s.xml\nUser-agent: strandline\nHost: x\nDisallow: /x\n";
    expect(allowed(text, "/x")).toBe(false);
  });

  it("rules before any group count for nobody", () => {
    expect(allowed("Disallow: /\nUser-agent: *\nDisallow: /x", "/y")).toBe(true);
  });
});

describe("the file", () => {
  it.each([
    ["a byte order mark", "\ufeffUser-agent: *\nDisallow: /x"],
    ["CR alone", "User-agent: *\rDisallow: /x"],
    ["CRLF, blank lines and comments", "# hello\r\nUser-agent: * # all\r\n\r\n  Disallow :  /x  # not this\r\n"],
    ["UTF-16 with a mark", Buffer.from("\ufeffUser-agent: *\r\nDisallow: /x\r\n", "utf16le")],
    ["UTF-16 the other way round", Buffer.from("\ufeffUser-agent: *\nDisallow: /x\n", "utf16le").swap16()],
    [
      "invalid UTF-8 elsewhere",
      Buffer.concat([Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from("User-agent: *\nDisallow: /x")]),
    ],
  ])("may have %s", (_what, body) => {
    const rules = parseRobots(typeof body === "string" ? Buffer.from(body) : body);
    expect(isAllowed(rules, new URL("https://example.org/x"))).toBe(false);
    expect(isAllowed(rules, new URL("https://example.org/y"))).toBe(true);
  });

  it("counts up to 500 KiB, whole lines only", () => {
    const head = "User-agent: *\nDisallow: /first\n";
    const filler = `${"#".repeat(99)}\n`.repeat(Math.ceil((ROBOTS_MAX_BYTES - head.length) / 100) - 1);
    const room = ROBOTS_MAX_BYTES - head.length - filler.length;
    const cutLine = `Disallow: /${"x".repeat(room)}`;
    const text = `${head}${filler}${cutLine}\nDisallow: /late\n`;
    expect(allowed(text, "/first")).toBe(false);
    expect(allowed(text, "/late")).toBe(true);
    expect(allowed(text, `/${"x".repeat(room)}`)).toBe(true);
  });

  it("keeps its sitemaps, whoever they stand by", () => {
    const text =
      "Sitemap: https://e.org/a.xml\nUser-agent: other\nSitemap: https://e.org/b.xml # c\nsitemap: /relative\n";
    expect(parseRobots(Buffer.from(text)).sitemaps).toEqual([
      "https://e.org/a.xml",
      "https://e.org/b.xml",
      "/relative",
    ]);
  });

  it.each([
    ["5", 5000],
    ["0.5", 500],
    [".5", 500],
    ["2,5", 2500],
    ["10s", 10_000],
    ["3 seconds", 3000],
    ["0", 0],
    ["-1", null],
    ["soon", null],
    ["", null],
  ])("that asks for a crawl delay of %j asks for %j ms", (value, ms) => {
    expect(parseRobots(Buffer.from(`User-agent: *\nCrawl-delay: ${value}`)).crawlDelayMs).toBe(ms);
  });

  it("that is an HTML page allows everything", () => {
    expect(allowed("<!doctype html><p>Disallow: /</p>", "/x")).toBe(true);
  });

  it("never throws", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.string().map((text) => Buffer.from(`User-agent: *\nDisallow: ${text}`)),
        ),
        (body) => {
          isAllowed(parseRobots(body), new URL("https://example.org/x?y"));
        },
      ),
    );
  });
});
