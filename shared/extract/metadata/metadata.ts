/** Reads what a page says about itself: title, metadata, canonical URL, declared language, robots. */

import type { Extraction, PageMetadata } from "../extraction.ts";
import { declaredLanguage } from "../language/language.ts";
import { collapsedText, collapseSpace } from "../parse/element-kinds.ts";
import type { Page } from "../parse/page-tree.ts";
import { author } from "./author.ts";
import { isoDate } from "./dates.ts";
import { resolveUrl } from "./links.ts";
import { type StructuredData, structuredData } from "./structured-data.ts";

export interface PageFacts {
  title: string | null;
  /** What the page declares, or null. */
  language: string | null;
  canonicalUrl: string | null;
  metadata: PageMetadata;
  robots: Extraction["robots"];
}

/**
 * Reads the facts of a page from its metadata and the response.
 * @param base resolves relative URLs
 * @param headers those of the response, null where absent
 */
export function pageFacts(
  page: Page,
  base: string,
  headers: { contentLanguage?: string | null; robotsHeader?: string | null },
): PageFacts {
  const meta = metaValues(page);
  const structured = structuredData(page.jsonLd);
  return {
    title: pageTitle(page, meta),
    language:
      declaredLanguage(page.html?.attribs.lang || page.html?.attribs["xml:lang"]) ??
      declaredLanguage(meta.get("content-language")?.[0]) ??
      declaredLanguage(headers.contentLanguage),
    canonicalUrl: canonicalUrl(page, base),
    metadata: {
      author: author(page, meta, structured),
      description: first(meta, "description", "og:description", "twitter:description") ?? structured.description,
      keywords: keywords(meta, structured),
      ogImage: absolute(first(meta, "og:image", "og:image:url", "og:image:secure_url", "twitter:image"), base),
      publishDate: publishDate(page, meta, structured),
    },
    robots: robots(meta, headers.robotsHeader),
  };
}

/** Values of `<meta>` by lower-case name, property, itemprop or http-equiv, in document order. */
function metaValues(page: Page): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const { attribs } of page.metas) {
    const content = attribs.content?.replace(/\s+/g, " ").trim();
    if (content === undefined || content === "") continue;
    for (const attribute of ["name", "property", "itemprop", "http-equiv"]) {
      const name = attribs[attribute]?.trim().toLowerCase();
      if (name === undefined || name === "") continue;
      const known = values.get(name);
      if (known === undefined) values.set(name, [content]);
      else known.push(content);
    }
  }
  return values;
}

function first(meta: Map<string, string[]>, ...names: string[]): string | null {
  for (const name of names) {
    const value = meta.get(name)?.[0];
    if (value !== undefined) return value;
  }
  return null;
}

function absolute(reference: string | null, base: string): string | null {
  return reference === null ? null : resolveUrl(reference, base);
}

/** og:title, then `<title>`, then the first `<h1>`: the order of the reference's content processor. */
function pageTitle(page: Page, meta: Map<string, string[]>): string | null {
  const og = first(meta, "og:title");
  if (og !== null) return og;
  const title = page.title === null ? "" : collapseSpace(page.title).trim();
  if (title !== "") return title;
  const heading = page.h1 === null ? "" : collapsedText(page.h1);
  return heading === "" ? null : heading;
}

function canonicalUrl(page: Page, base: string): string | null {
  for (const { attribs } of page.linkTags) {
    const relations = attribs.rel?.toLowerCase().split(/\s+/) ?? [];
    if (!relations.includes("canonical") || attribs.href === undefined || attribs.href.trim() === "") continue;
    const url = resolveUrl(attribs.href, base);
    if (url !== null) return url;
  }
  return null;
}

function keywords(meta: Map<string, string[]>, structured: StructuredData): string[] {
  const written = first(meta, "keywords", "news_keywords");
  const raw = written !== null ? written.split(/[,;]/) : (meta.get("article:tag") ?? structured.keywords);
  return [...new Set(raw.map((word) => word.trim()).filter((word) => word !== ""))].slice(0, 100);
}

const DATE_NAMES = [
  "article:published_time",
  "og:article:published_time",
  "datepublished",
  "date",
  "pubdate",
  "publishdate",
  "publish-date",
  "publish_date",
  "dc.date.issued",
  "dcterms.issued",
  "dcterms.date",
  "dc.date",
  "dcterms.created",
  "sailthru.date",
  "parsely-pub-date",
  "article.published",
  "citation_publication_date",
  "cxenseparse:recs:publishtime",
];

function publishDate(page: Page, meta: Map<string, string[]>, structured: StructuredData): string | null {
  for (const name of DATE_NAMES) {
    for (const value of meta.get(name) ?? []) {
      const date = isoDate(value);
      if (date !== null) return date;
    }
  }
  for (const value of structured.datesPublished) {
    const date = isoDate(value);
    if (date !== null) return date;
  }
  const marked = page.marked.filter(({ attribs }) => attribs.itemprop?.toLowerCase() === "datepublished");
  // when a page was changed is not when it was published
  const times = page.times.filter(({ attribs }) => !/modified|updated/i.test(`${attribs.itemprop} ${attribs.class}`));
  const published = times.find(({ attribs }) => attribs.pubdate !== undefined);
  for (const element of [...marked.slice(0, 5), ...(published ? [published] : times.slice(0, 1))]) {
    const date = isoDate(element.attribs.datetime ?? element.attribs.content ?? collapsedText(element));
    if (date !== null) return date;
  }
  return null;
}

/** Directives for every robot; those that name another one in front (`googlebot: noindex`) are not ours. */
function robots(meta: Map<string, string[]>, header: string | null | undefined): Extraction["robots"] {
  const directives = new Set<string>();
  for (const value of [...(meta.get("robots") ?? []), ...(meta.get("strandline") ?? [])]) {
    for (const directive of value.toLowerCase().split(/[\s,]+/)) directives.add(directive);
  }
  let addressee = "";
  for (const part of header?.toLowerCase().split(",") ?? []) {
    const named = /^\s*([a-z0-9_-]+)\s*:\s*(.*)$/.exec(part);
    if (named !== null && !/^(?:unavailable_after|max-.*)$/.test(named[1] as string)) addressee = named[1] as string;
    if (addressee === "" || addressee === "*" || addressee === "strandline") {
      directives.add((named?.[2] ?? part).trim());
    }
  }
  const none = directives.has("none");
  return { noindex: none || directives.has("noindex"), nofollow: none || directives.has("nofollow") };
}
