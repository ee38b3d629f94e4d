import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { html, redirect, startSite } from "../../../sites/site.ts";
import { entry, urlset } from "../../../unit/crawl/discovery/lists.ts";
import { discoveryHarness } from "./harness.ts";
import { pathsOf, robots, sitemapOf, siteWith, xml } from "./list-sites.ts";

test("sitemaps that robots.txt names are read, with what their indexes name, and keep where and how old", async () => {
  await using site = await siteWith((self) => ({
    "/robots.txt": robots("User-agent: *", "Disallow: /lists/", `Sitemap: ${self.origin}/lists/index.xml`),
    "/lists/index.xml": xml(
      `<sitemapindex><sitemap><loc>${self.origin}/lists/a.xml</loc></sitemap><sitemap><loc>${self.origin}/lists/b</loc></sitemap></sitemapindex>`,
    ),
    "/lists/a.xml": xml(urlset(entry(`${self.origin}/1`, "2024-05-01"), entry(`${self.origin}/2#part`))),
    "/lists/b": { headers: { "Content-Type": "text/html" }, body: gzipSync(urlset(entry(`${self.origin}/3`))) },
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(found).toMatchObject({ error: null, urlsFound: 3 });
  expect(found.urls).toEqual([
    {
      url: `${site.origin}/1`,
      lastmod: "2024-05-01",
      source: "sitemap",
      found_in: `${site.origin}/lists/a.xml`,
      score: null,
    },
    { url: `${site.origin}/2`, lastmod: null, source: "sitemap", found_in: `${site.origin}/lists/a.xml`, score: null },
    { url: `${site.origin}/3`, lastmod: null, source: "sitemap", found_in: `${site.origin}/lists/b`, score: null },
  ]);
  expect(found.noted).toEqual(["HTTP_404 /"]);
});

test("what robots.txt names is read however it is written, and what is no address is noted", async () => {
  await using site = await siteWith((self) => ({
    "/robots.txt": {
      body: `\uFEFFSITEMAP:/a.xml\r\nUser-agent: *\r\nDisallow:\r\nsitemap : b.xml # the second\r\nSitemap: ftp://${self.host}/c.xml\r\n`,
    },
    "/a.xml": sitemapOf(self, "/1"),
    "/b.xml": sitemapOf(self, "/2"),
    "/": html("<title>Home</title>"),
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(pathsOf(found)).toEqual(["/1", "/2"]);
  expect(found.noted).toEqual(["URL_INVALID /robots.txt"]);
});

test("a feed's links are relative to what it says itself", async () => {
  await using site = await siteWith((self) => ({
    "/": html(`<title>Home</title><link rel="alternate" type="application/atom+xml" href="/feeds/news">`),
    "/feeds/news": xml(
      `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/"><entry><link href="1"/></entry><entry><link href="${self.origin}/2"/></entry></feed>`,
    ),
  }));
  const harness = await discoveryHarness();
  expect(pathsOf(await harness.find(site.origin))).toEqual(["/blog/1", "/2"]);
});

test("without a scheme https is tried, then http", async () => {
  await using site = await siteWith((self) => ({ "/sitemap.xml": sitemapOf(self, "/1") }));
  const harness = await discoveryHarness();
  expect(pathsOf(await harness.find(site.host))).toEqual(["/1"]);
});

test("sitemaps and feeds at the usual places are found, and what is not there is not spoken of", async () => {
  await using site = await siteWith((self) => ({
    "/sitemap.xml": sitemapOf(self, "/1"),
    "/sitemap.txt": { headers: { "Content-Type": "text/plain" }, body: `${self.origin}/2\n` },
    "/": html("<title>Home</title>"),
    "/atom.xml": xml('<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/3"/></entry></feed>'),
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(pathsOf(found)).toEqual(["/1", "/2", "/3"]);
  expect(found.urls.map(({ source }) => source)).toEqual(["sitemap", "sitemap", "feed"]);
  expect(found.notes).toEqual([]);
});

test("nothing is guessed where robots.txt names a sitemap; where that cannot be read, it is", async () => {
  await using site = await siteWith((self) => ({
    "/robots.txt": { body: `Sitemap: ${self.origin}/named.xml` },
    "/named.xml": sitemapOf(self, "/1"),
    "/": html("<title>Home</title>"),
  }));
  const harness = await discoveryHarness();
  expect(pathsOf(await harness.find(site.origin))).toEqual(["/1"]);
  expect(site.paths()).toEqual(["/named.xml", "/"]);
  site.route({ "/named.xml": { status: 404 } });
  await harness.find(site.origin);
  expect(site.paths()).toEqual(expect.arrayContaining(["/sitemap.xml", "/feed"]));
});

test("feeds that the home page links to are read, wherever its base says they are", async () => {
  await using site = await siteWith((self) => ({
    "/": html(`<base href="/blog/"><link rel="ALTERNATE nofollow" type="application/rss+xml" href="news">
      <link rel="alternate" hreflang="de" href="/de"><link rel="sitemap" href="${self.origin}/map">
      <body><link rel="alternate" type="application/rss+xml" href="/in-the-body">`),
    "/blog/news": xml(`<rss><channel><item><link>${self.origin}/post</link></item></channel></rss>`),
    "/map": sitemapOf(self, "/page"),
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(pathsOf(found)).toEqual(["/post", "/page"]);
  expect(site.paths()).not.toContain("/in-the-body");
  expect(site.paths()).not.toContain("/rss.xml");
});

test("a site without any list completes with a note", async () => {
  await using site = await startSite({ "/": html("Home") });
  const harness = await discoveryHarness();
  expect(await harness.find(site.origin)).toMatchObject({ error: null, urls: [], noted: ["NO_SITEMAP /"] });
});

test("indexes that name each other are read once each, and not too deep", async () => {
  const index = (...urls: string[]) =>
    xml(`<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join("")}</sitemapindex>`);
  await using site = await siteWith((self) => ({
    "/sitemap.xml": index(`${self.origin}/sitemap.xml`, `${self.origin}/i1`, `${self.origin}/i1#again`),
    "/i1": index(`${self.origin}/sitemap.xml`, `${self.origin}/i2`),
    "/i2": index(`${self.origin}/i3`),
    "/i3": index(`${self.origin}/i4`),
    "/i4": sitemapOf(self, "/too-deep"),
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(found.urls).toEqual([]);
  expect(found.noted).toContain("INDEX_TOO_DEEP /i3");
  const asked = site.paths().filter((path) => /^\/(i\d|sitemap\.xml)$/.test(path));
  expect(asked).toEqual(["/sitemap.xml", "/i1", "/i2", "/i3"]);
});

test("of an index without end the first thousand lists are read", async () => {
  await using site = await siteWith((self) => ({
    "/sitemap.xml": xml(
      `<sitemapindex>${Array.from({ length: 1_200 }, (_, n) => `<sitemap><loc>${self.origin}/s${n}.txt</loc></sitemap>`).join("")}</sitemapindex>`,
    ),
    "/s7.txt": { body: `${self.origin}/7\n` },
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(pathsOf(found)).toEqual(["/7"]);
  // with those at the usual places
  expect(found.notes.find(({ code }) => code === "TOO_MANY_SITEMAPS")?.count).toBeGreaterThanOrEqual(200);
  expect(site.paths().length).toBeLessThanOrEqual(1_001);
  expect(found.notes.at(-1)).toMatchObject({ code: "MORE_NOTES" });
});

test("redirects are followed, and end", async () => {
  await using site = await siteWith((self) => ({
    "/robots.txt": robots(`Sitemap: ${self.origin}/a.xml`, `Sitemap: ${self.origin}/loop.xml`),
    "/a.xml": redirect("/b.xml", 301),
    "/b.xml": sitemapOf(self, "/1"),
    "/sitemap.xml": redirect("/b.xml"),
    "/loop.xml": redirect("/loop.xml"),
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(found.urls).toMatchObject([{ url: `${site.origin}/1`, found_in: `${site.origin}/b.xml` }]);
  expect(found.noted).toContain("REDIRECT_LOOP /loop.xml");
});

test("entries of other hosts, relative ones and what is no URL are refused and counted; of the same page one is kept", async () => {
  await using elsewhere = await startSite();
  await using site = await siteWith((self) => ({
    "/sitemap.xml": xml(
      urlset(
        entry(`${self.origin}/1?utm_source=x`),
        entry(`${self.origin}/1`, "2024-01-01"),
        entry(`${elsewhere.origin}/1`),
        entry("https://other.example/1"),
        entry("/relative"),
        entry("javascript:alert(1)"),
        entry(`${self.origin}/${"x".repeat(2048)}`),
        entry(self.origin.replace("http://", "http://user:secret@")),
        "<url></url>",
        entry(`${self.origin}/2`, "tomorrow"),
      ),
    ),
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(found.urls).toMatchObject([
    { url: `${site.origin}/1`, lastmod: "2024-01-01" },
    { url: `${site.origin}/2`, lastmod: null },
  ]);
  const counts = Object.fromEntries(found.notes.map(({ code, count }) => [code, count]));
  expect(counts).toMatchObject({ WRONG_HOST: 2, URL_INVALID: 4, URL_MISSING: 1, LASTMOD_INVALID: 1 });
});

test("a sitemap on another host counts where robots.txt names it, for entries of the site alone", async () => {
  await using elsewhere = await startSite();
  await using site = await siteWith(() => ({
    "/robots.txt": robots(`Sitemap: ${elsewhere.origin}/for-others.xml`, `Sitemap: ${elsewhere.origin}/private/x.xml`),
  }));
  elsewhere.route({
    "/robots.txt": robots("User-agent: *", "Disallow: /private/"),
    "/for-others.xml": xml(urlset(entry(`${site.origin}/1`), entry(`${elsewhere.origin}/2`))),
  });
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(pathsOf(found)).toEqual(["/1"]);
  expect(found.noted).toContain("WRONG_HOST /for-others.xml");
  // that host's own robots.txt holds there
  expect(found.noted).toContain("ROBOTS_DENIED /private/x.xml");
});

test("an index must not name sitemaps of other hosts", async () => {
  await using elsewhere = await startSite();
  await using site = await siteWith(() => ({
    "/sitemap.xml": xml(`<sitemapindex><sitemap><loc>${elsewhere.origin}/s.xml</loc></sitemap></sitemapindex>`),
  }));
  const harness = await discoveryHarness();
  expect((await harness.find(site.origin)).noted).toContain("WRONG_HOST /sitemap.xml");
  expect(elsewhere.requests).toEqual([]);
});

test("each sitemap that cannot be read has its note, and the others are read", async () => {
  const names = ["gone", "broken", "page", "picture", "cut", "good", "forbidden"];
  await using site = await siteWith((self) => ({
    "/robots.txt": robots(...names.map((name) => `Sitemap: ${self.origin}/${name}.xml`)),
    "/broken.xml": xml(Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8])),
    "/page.xml": html("<!doctype html><html><p>Not found"),
    "/picture.xml": xml("<svg/>"),
    "/cut.xml": {
      raw: (socket) => {
        socket.end(
          `HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n${urlset(entry(`${self.origin}/1`)).slice(0, -9)}<url><loc>${self.origin}/ha`,
        );
      },
    },
    "/good.xml": sitemapOf(self, "/2"),
    "/forbidden.xml": { status: 403 },
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin);
  expect(pathsOf(found)).toEqual(["/1", "/2"]);
  expect(found.noted).toEqual(
    expect.arrayContaining([
      "HTTP_404 /gone.xml",
      "DECODE_FAILED /broken.xml",
      "HTML_INSTEAD /page.xml",
      "NOT_A_SITEMAP /picture.xml",
      "TRUNCATED /cut.xml",
      "HTTP_403 /forbidden.xml",
    ]),
  );
});

test("max_urls ends the reading, and says that there may be more", async () => {
  await using site = await siteWith((self) => ({
    "/robots.txt": robots(`Sitemap: ${self.origin}/a.xml`, `Sitemap: ${self.origin}/b.xml`),
    "/a.xml": sitemapOf(self, "/1", "/2", "/3"),
    "/b.xml": sitemapOf(self, "/4"),
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin, { maxUrls: 2 });
  expect(pathsOf(found)).toEqual(["/1", "/2"]);
  expect(found.notes.map(({ code }) => code)).toEqual(["MAX_URLS"]);
  expect(site.paths()).toEqual(["/a.xml"]);
});

test("a pattern keeps what it is found in", async () => {
  await using site = await siteWith((self) => ({ "/sitemap.xml": sitemapOf(self, "/blog/1", "/shop/1", "/blog/2") }));
  const harness = await discoveryHarness();
  expect(pathsOf(await harness.find(site.origin, { pattern: "/blog/\\d$" }))).toEqual(["/blog/1", "/blog/2"]);
});

test("scored URLs come best first, however many there are, without those below the threshold", async () => {
  await using site = await siteWith((self) => ({
    "/sitemap.xml": sitemapOf(
      self,
      "/about",
      "/widget",
      ...Array.from({ length: 50 }, (_, n) => `/widgets/${n}`),
      "/widget/price",
    ),
  }));
  const harness = await discoveryHarness();
  const found = await harness.find(site.origin, { keywords: ["widget", "price"], scoreThreshold: 0.2, maxUrls: 3 });
  expect(found.urls.map(({ url, score }) => [new URL(url).pathname, score])).toEqual([
    ["/widget/price", 0.6],
    ["/widget", 0.3],
    ["/widgets/0", 0.225],
  ]);
});

test("a worker whose time is up delivers what it has", async () => {
  await using site = await siteWith((self) => ({
    "/robots.txt": robots(`Sitemap: ${self.origin}/a.xml`, `Sitemap: ${self.origin}/slow.xml`),
    "/a.xml": sitemapOf(self, "/1"),
    "/slow.xml": { raw: () => undefined },
  }));
  const harness = await discoveryHarness();
  // a minute of that is for the result; a machine that is slow needs longer to have read anything
  let found = await harness.find(site.origin, {}, 62_000);
  for (let timeMs = 4_000; found.urlsFound === 0 && timeMs < 60_000; timeMs *= 2) {
    found = await harness.find(site.origin, {}, 60_000 + timeMs);
  }
  expect(pathsOf(found)).toEqual(["/1"]);
  expect(found.notes.map(({ code }) => code)).toContain("TIME_LIMIT");
  expect(found.error).toBeNull();
});

test("nothing that is looked for or found gets into the log", async () => {
  await using site = await siteWith((self) => ({ "/sitemap.xml": sitemapOf(self, "/?token=secret") }));
  const harness = await discoveryHarness();
  await harness.find(site.origin, { keywords: ["secret"], pattern: "secret" });
  expect(harness.logged.join("\n")).not.toContain("secret");
});
