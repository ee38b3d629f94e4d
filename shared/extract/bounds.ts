/**
 * How much of what a page says about itself is kept: rows, chunks and answers repeat it, so that one page of megabytes
 * would hold up all that have to do with it. Its text is bounded by the size of the page, and is not cut here.
 */
import { shorten } from "../platform/text.ts";
import type { Extraction } from "./extraction.ts";

/** In UTF-16 code units, where it is not a number of things. */
export const BOUNDS = {
  title: 1000,
  heading: 500,
  author: 500,
  description: 2000,
  keywords: 100,
  keyword: 100,
  /** Longer ones are never crawled. */
  url: 2048,
  links: 10_000,
  /** All of them together. */
  allLinks: 1_000_000,
  sections: 5000,
  /** Of a document; the text behind the last one is kept and shown, and not found. */
  chunks: 2000,
} as const;

/** Idempotent. What does not fit is cut; a URL that does not is left out. */
export function boundExtraction(extraction: Extraction): Extraction {
  const { metadata, links, anchors, text } = extraction;
  const short = (value: string | null, most: number): string | null => value && shorten(value, most);
  const usable = (url: string | null): string | null => (url !== null && url.length > BOUNDS.url ? null : url);
  const kept = fittingLinks(links);
  const whole = kept.length === links.length;
  const sections = extraction.sections
    .slice(0, BOUNDS.sections)
    .map((section) => ({ ...section, heading: short(section.heading, BOUNDS.heading) }));
  const last = sections.at(-1);
  if (last !== undefined && sections.length < extraction.sections.length) last.end = text.length;
  return {
    ...extraction,
    title: short(extraction.title, BOUNDS.title),
    canonicalUrl: usable(extraction.canonicalUrl),
    metadata: {
      ...metadata,
      author: short(metadata.author, BOUNDS.author),
      description: short(metadata.description, BOUNDS.description),
      keywords: metadata.keywords.slice(0, BOUNDS.keywords).map((keyword) => shorten(keyword, BOUNDS.keyword)),
      ogImage: usable(metadata.ogImage),
    },
    links: whole ? links : kept.map((at) => links[at] as string),
    ...(anchors && { anchors: whole ? anchors : kept.map((at) => anchors[at] as string) }),
    sections,
  };
}

/** The places of the first ones that fit, without those that are too long themselves. */
function fittingLinks(links: readonly string[]): number[] {
  const kept: number[] = [];
  let length = 0;
  for (const [at, url] of links.entries()) {
    if (url.length > BOUNDS.url) continue;
    length += url.length;
    if (kept.length === BOUNDS.links || length > BOUNDS.allLinks) break;
    kept.push(at);
  }
  return kept;
}
