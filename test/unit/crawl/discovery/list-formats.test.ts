import { brotliCompressSync, deflateRawSync, gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { entry, readBytes, urlset } from "./lists.ts";

const urlsOf = ({ pages }: { pages: { url: string | null }[] }) => pages.map(({ url }) => url);
const two = urlset(entry("https://a.example/1", "2024-02-29"), entry("https://a.example/2"));
const expected = ["https://a.example/1", "https://a.example/2"];

test("a sitemap gives its URLs with the dates that are valid", async () => {
  const read = await readBytes(
    urlset(entry("https://a.example/1", "2024-02-29"), entry("https://a.example/2", "last week")),
  );
  expect(read).toMatchObject({ kind: "sitemap", complete: true, cut: null });
  expect(read.pages).toMatchObject([
    { url: "https://a.example/1", lastmod: "2024-02-29", badLastmod: false },
    { url: "https://a.example/2", lastmod: null, badLastmod: true },
  ]);
});

test("an index gives its sitemaps", async () => {
  const read = await readBytes(
    "<sitemapindex><sitemap><loc>https://a.example/s1.xml</loc><lastmod>2024</lastmod></sitemap></sitemapindex>",
  );
  expect(read).toMatchObject({
    kind: "index",
    pages: [],
    sitemaps: [{ url: "https://a.example/s1.xml", lastmod: "2024" }],
  });
});

test("prefixes, CDATA, entities, comments and space are read as XML means them", async () => {
  const read = await readBytes(`<!-- made by hand --><s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9">
    <s:url><s:loc>
      https://a.example/?a=1&amp;b=2&#38;c=&#x33; </s:loc></s:url>
    <s:url><!-- one more --><s:loc><![CDATA[https://a.example/?d=<&e]]></s:loc></s:url>
    <s:url><s:loc>https://a.example/par<!-- t -->ts</s:loc></s:url></s:urlset>`);
  expect(urlsOf(read)).toEqual([
    "https://a.example/?a=1&b=2&c=3",
    "https://a.example/?d=<&e",
    "https://a.example/parts",
  ]);
});

test("the URLs of images and videos are no pages", async () => {
  const read = await readBytes(
    urlset(
      `<url><image:image><image:loc>https://a.example/x.png</image:loc></image:image><image:loc>https://a.example/y.png</image:loc>
       <loc>https://a.example/page</loc><video:video><video:player_loc>https://a.example/v</video:player_loc></video:video></url>`,
    ),
  );
  expect(urlsOf(read)).toEqual(["https://a.example/page"]);
});

test("entries without a URL are seen as such", async () => {
  const read = await readBytes(
    urlset("<url><lastmod>2024</lastmod></url>", "<url><loc/></url>", "<url><loc> </loc></url>"),
  );
  expect(urlsOf(read)).toEqual([null, null, null]);
});

test("RSS 2.0: links, permalinks of items without a link, dates as W3C writes them", async () => {
  const read = await readBytes(`<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="m"><channel>
    <link>https://a.example/</link><atom:link rel="self" href="https://a.example/rss"/>
    <item><title>One &amp; only</title><media:title>other</media:title><link>https://a.example/1</link>
      <pubDate>Tue, 05 Mar 2024 10:00:00 +0100</pubDate></item>
    <item><guid>https://a.example/2</guid><pubDate>yesterday</pubDate></item>
    <item><guid isPermaLink="false">https://a.example/id-3</guid></item></channel></rss>`);
  expect(read.kind).toBe("feed");
  expect(read.pages).toMatchObject([
    { url: "https://a.example/1", lastmod: "2024-03-05T09:00:00.000Z", title: "One & only", as: "feed" },
    { url: "https://a.example/2", lastmod: null, badLastmod: true },
    { url: null },
  ]);
});

test("RSS 1.0 and its Dublin Core dates", async () => {
  const read = await readBytes(`<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/" xmlns:dc="d">
    <channel rdf:about="x"><link>https://a.example/</link></channel>
    <item rdf:about="y"><link>https://a.example/1</link><dc:date>2024-03-05T10:00:00Z</dc:date></item></rdf:RDF>`);
  expect(read.pages).toMatchObject([{ url: "https://a.example/1", lastmod: "2024-03-05T10:00:00Z" }]);
});

test("Atom: the alternate link counts, and when it was updated", async () => {
  const read = await readBytes(`<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:link href="https://a.example/"/>
    <a:entry><a:link rel="self" href="/self"/><a:link rel="alternate" href="/1"/><a:link href="/other"/>
      <a:published>2024-01-01T00:00:00Z</a:published><a:updated>2024-02-01T00:00:00Z</a:updated></a:entry></a:feed>`);
  expect(read.pages).toMatchObject([{ url: "/1", lastmod: "2024-02-01T00:00:00Z" }]);
});

test("what xml:base says of relative links holds for what is in it", async () => {
  const read = await readBytes(`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://a.example/blog/">
    <entry xml:base="2024/"><link href="1"/></entry><entry><link xml:base="/news/" href="2"/></entry>
    <entry><link href="3"/></entry></feed>`);
  expect(read.pages.map(({ url, base }) => new URL(url ?? "", base?.href).href)).toEqual([
    "https://a.example/blog/2024/1",
    "https://a.example/news/2",
    "https://a.example/blog/3",
  ]);
});

test("elements belong together by their namespace, whatever their prefixes", async () => {
  const read = await readBytes(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
    xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">
    <url><i:loc>https://a.example/x.png</i:loc><s:loc>https://a.example/1</s:loc></url>
    <s:url><loc>https://a.example/2</loc></s:url>
    <url><loc xmlns="http://www.google.com/schemas/sitemap-image/1.1">https://a.example/y.png</loc><loc>https://a.example/3</loc></url>
    </urlset>`);
  expect(urlsOf(read)).toEqual(["https://a.example/1", "https://a.example/2", "https://a.example/3"]);
});

test("an entry whose end is missing costs no other entry", async () => {
  const read = await readBytes(
    urlset("<url><loc>https://a.example/1</loc>", entry("https://a.example/2"), "<url><loc>https://a.example/3</loc>"),
  );
  expect(urlsOf(read)).toEqual(["https://a.example/1", "https://a.example/2", "https://a.example/3"]);
  expect(read.complete).toBe(true);
});

test("a text sitemap is a URL a line, whatever ends the lines", async () => {
  const read = await readBytes(
    "\uFEFFhttps://a.example/1\r\nhttps://a.example/2\r\r\n  https://a.example/3  \n# no URL\nnonsense",
  );
  expect(read.kind).toBe("text");
  expect(urlsOf(read)).toEqual(["https://a.example/1", "https://a.example/2", "https://a.example/3", "nonsense"]);
});

test.each([
  ["gzip without any header", gzipSync(two), []],
  ["gzip in gzip", gzipSync(gzipSync(two)), []],
  ["a gzip file sent with gzip coding", gzipSync(gzipSync(two)), [["content-encoding", "gzip"]]],
  ["gzip coding that is a lie", Buffer.from(two), [["content-encoding", "gzip"]]],
  ["brotli on gzip", brotliCompressSync(gzipSync(two)), [["Content-Encoding", "gzip, br"]]],
  ["gzip on brotli", gzipSync(brotliCompressSync(two)), [["Content-Encoding", "br, gzip"]]],
  ["bare deflate", deflateRawSync(two), [["content-encoding", "deflate"]]],
  ["zstd", zstdCompressSync(two), [["content-encoding", "zstd"]]],
  ["gzip members one after the other", Buffer.concat([gzipSync(two.slice(0, 90)), gzipSync(two.slice(90))]), []],
] as [string, Buffer, [string, string][]][])("reads %s", async (_name, body, headers) => {
  const read = await readBytes(body, headers);
  expect(urlsOf(read)).toEqual(expected);
  expect(read.cut).toBeNull();
});

test.each([
  ["UTF-8 with a mark", Buffer.from(`\uFEFF${two}`), undefined],
  ["UTF-16 LE with a mark", Buffer.from(`\uFEFF${two}`, "utf16le"), undefined],
  ["UTF-16 LE without", Buffer.from(two, "utf16le"), undefined],
  ["UTF-16 BE with a mark", Buffer.from(`\uFEFF${two}`, "utf16le").swap16(), undefined],
  ["UTF-16 BE without", Buffer.from(two, "utf16le").swap16(), undefined],
  ["a declaration of UTF-16 that is a lie", Buffer.from(two.replace("UTF-8", "UTF-16")), undefined],
  ["gzip of UTF-16", gzipSync(Buffer.from(`\uFEFF${two}`, "utf16le")), undefined],
  ["a charset that nobody knows", Buffer.from(two), "text/xml; charset=klingon"],
])("reads %s", async (_name, body, type) => {
  const read = await readBytes(body, type === undefined ? [] : [["content-type", type]]);
  expect(urlsOf(read)).toEqual(expected);
});

test("the charset of the header wins over that of the declaration, and either over UTF-8", async () => {
  const latin1 = Buffer.from(two.replace("UTF-8", "ISO-8859-1").replace("/1<", "/é<"), "latin1");
  expect(urlsOf(await readBytes(latin1))[0]).toBe("https://a.example/é");
  const cyrillic = await readBytes(Buffer.from([0xe9]), []);
  expect(cyrillic.kind).toBe("unknown");
  const wrong = Buffer.from(two.replace("UTF-8", "ISO-8859-1").replace("/1<", "/é<"));
  expect(urlsOf(await readBytes(wrong, [["content-type", "text/xml; charset=utf-8"]]))[0]).toBe("https://a.example/é");
});

test.each([
  ["an HTML page", "<!DOCTYPE html><html><body><url><loc>https://a.example/</loc></url></body></html>", "html"],
  ["another XML document", "<svg><url><loc>https://a.example/</loc></url></svg>", "unknown"],
  ["an element named like a property of objects", "<constructor><url/></constructor>", "unknown"],
  ["prose", "No such file.\n".repeat(50), "unknown"],
  ["nothing", "", "empty"],
  ["white space", " \n\t ", "empty"],
  ["an empty sitemap", '<?xml version="1.0"?><urlset/>', "sitemap"],
])("says what %s is", async (_name, text, kind) => {
  expect(await readBytes(text)).toMatchObject({ kind, pages: [], cut: null });
});
