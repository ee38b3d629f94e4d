/** Sitemaps as other projects test their readers with them (test/fixtures/field). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { readBytes } from "./lists.ts";

const file = (name: string) => readFileSync(join(import.meta.dirname, "../../../fixtures/field/lists", name));

test.each([
  ["as it stands", file("sitemap.xml")],
  ["in gzip", gzipSync(file("sitemap.xml"))],
])("a sitemap %s lists its pages with their dates", async (_, bytes) => {
  const read = await readBytes(bytes);
  expect({ kind: read.kind, complete: read.complete }).toEqual({ kind: "sitemap", complete: true });
  expect(read.pages.map(({ url, lastmod }) => [url, lastmod])).toEqual([
    ["http://HOST/", null],
    ["http://HOST/tools/", "2015-05-07T19:13:09+09:00"],
    ["http://HOST/contribution-to-oss/", "2015-05-07"],
    ["http://HOST/page-1/", "2015-05-07T19:13:09+09:00"],
  ]);
});

test("an index names its sitemaps", async () => {
  const read = await readBytes(file("sitemap-index.xml"));
  expect({ kind: read.kind, complete: read.complete, pages: read.pages }).toEqual({
    kind: "index",
    complete: true,
    pages: [],
  });
  expect(read.sitemaps.map(({ url, lastmod }) => [url, lastmod])).toEqual([
    ["http://www.example.com/sitemap1.xml.gz", "2004-10-01T18:23:17+00:00"],
    ["http://www.example.com/sitemap2.xml.gz", "2005-01-01"],
    ["http://www.example.com/sitemap3.xml.gz", null],
  ]);
});
