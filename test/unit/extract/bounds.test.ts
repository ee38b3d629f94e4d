import { expect, it } from "vitest";
import { BOUNDS, boundExtraction } from "../../../shared/extract/bounds.ts";
import { extractPage } from "../../../shared/extract/extract-page.ts";

const megabyte = "harbour ".repeat(131_072);

it("what a page says about itself is kept in part where it is megabytes", () => {
  const html = `<html lang="en"><title>${megabyte}</title>
    <meta name="description" content="${megabyte}"><meta name="keywords" content="${megabyte},short">
    <meta name="author" content="${Array.from({ length: 10 }, (_, at) => `${"Ada".repeat(38)}${at}`).join(",")}">
    <meta property="og:image" content="/${megabyte}"><link rel="canonical" href="/${"x".repeat(3000)}">
    <script type="application/ld+json">{"@type":"Article","author":{"name":"${"Bo ".repeat(3000)}"}}</script>
    <main><h1>${megabyte}</h1><p>The tide.<a href="/ok">ok</a><a href="/${"é".repeat(1000)}">long</a>
    <img src="/p.png" alt="${megabyte}">`;
  const page = extractPage(html, { url: "https://example.org/", anchors: true });
  expect(page.title).toHaveLength(BOUNDS.title - 1);
  expect(page.metadata.description?.length).toBeLessThanOrEqual(BOUNDS.description);
  expect(page.metadata.author?.length ?? 0).toBeLessThanOrEqual(BOUNDS.author);
  expect(page.metadata.keywords.map(({ length }) => length)).toEqual([BOUNDS.keyword]);
  expect([page.metadata.ogImage, page.canonicalUrl]).toEqual([null, null]);
  expect([page.links, page.anchors]).toEqual([["https://example.org/ok"], ["ok"]]);
  expect(page.sections.map(({ heading }) => heading?.length)).toEqual([BOUNDS.heading]);
  expect(page.text).toContain("The tide.");
});

it("more links and sections than are kept are cut at the end, and the last section has the rest of the text", () => {
  const sections = Array.from({ length: 6000 }, (_, at) => `<h2>Part ${at}</h2><p>Text of part ${at}.</p>`).join("");
  const links = Array.from({ length: 12_000 }, (_, at) => `<a href="/${at}">Link ${at}</a>`).join(" ");
  const page = extractPage(`<main>${sections}</main><footer>${links}`, { url: "https://example.org/", anchors: true });
  expect([page.links.length, page.anchors?.length]).toEqual([BOUNDS.links, BOUNDS.links]);
  expect(page.links.at(-1)).toBe("https://example.org/9999");
  expect(page.sections).toHaveLength(BOUNDS.sections);
  expect(page.sections.at(-1)?.end).toBe(page.text.length);
  expect(boundExtraction(page)).toEqual(page);
});

it("links that are more than fits together are cut at the end, however few they are", () => {
  const url = (at: number) => `https://example.org/${"x".repeat(1776)}${String(at).padStart(4, "0")}`;
  const links = Array.from({ length: 6000 }, (_, at) => `<a href="${url(at)}">Link ${at}</a>`).join(" ");
  const page = extractPage(`<main><p>The tide.</p>${links}`, { url: "https://example.org/", anchors: true });
  expect([url(0).length, BOUNDS.allLinks]).toEqual([1800, 1_000_000]);
  expect([page.links.length, page.anchors?.length]).toEqual([555, 555]);
  expect([page.links.at(-1), page.anchors?.at(-1)]).toEqual([url(554), "Link 554"]);
  expect(boundExtraction(page)).toEqual(page);
});

it("no character is cut in two", () => {
  const page = extractPage(`<title>a${"\u{1F41F}".repeat(1000)}</title>`, { url: "https://example.org/" });
  expect(page.title).toBe(`a${"\u{1F41F}".repeat(499)}`);
});
