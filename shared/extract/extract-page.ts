/** Extracts from one HTML page what the rest of the system knows of it. */
import { storable } from "../platform/text.ts";
import { boundExtraction } from "./bounds.ts";
import { anchorTexts } from "./content/anchors.ts";
import { plainTextParts, renderText } from "./content/content-text.ts";
import { renderHtml } from "./content/main-html.ts";
import { type ContentSelection, hasSelectors, MAIN_CONTENT, selectContent } from "./content/selection.ts";
import type { Extraction } from "./extraction.ts";
import { detectLanguage } from "./language/language.ts";
import { renderMarkdown } from "./markdown/markdown.ts";
import { baseUrl, pageLinks } from "./metadata/links.ts";
import { pageFacts } from "./metadata/metadata.ts";
import { encodeQueries } from "./metadata/query-encoding.ts";
import { writeListings } from "./parse/listings.ts";
import { keepFormulas, writeNotation } from "./parse/notation.ts";
import { parsePage } from "./parse/parse-page.ts";

export interface PageContext {
  /** Absolute URL after redirects. */
  url: string;
  /** `Content-Language` of the response. */
  contentLanguage?: string | null;
  /** `X-Robots-Tag` of the response. */
  robotsHeader?: string | null;
  /** WHATWG name of the encoding that the page came in: forms and links of it send their queries in that. */
  charset?: string;
  /** Whether the text of each link is wanted, too. */
  anchors?: boolean;
  /** What of the page is its content; left out: its main content. */
  selection?: ContentSelection;
}

/**
 * Extracts text, Markdown, links and metadata of a page. It never throws on bad markup: time and memory are linear in
 * `html.length`, whatever the nesting; with selectors, time is bounded.
 * @throws SelectorLimitError where the page makes the selectors take too long
 * @example
 * const page = extractPage("<title>A</title><h1>B</h1><p>See <a href=c>c</a>.", { url: "https://example.org/" });
 * [page.title, page.text, page.links] // => ["A", "B\n\nSee c.", ["https://example.org/c"]]
 */
export function extractPage(html: string, context: PageContext): Extraction {
  const page = parsePage(storable(html), { withUnshown: hasSelectors(context.selection) });
  encodeQueries(page, context.charset ?? "UTF-8");
  const base = baseUrl(page, context.url);
  const facts = pageFacts(page, base, context);
  writeListings(page);
  writeNotation(page);
  const content = selectContent(page, context.selection ?? MAIN_CONTENT);
  const parts = renderText(content.roots);
  const links = pageLinks(page.hrefs, base);
  return boundExtraction({
    title: facts.title,
    language: facts.language ?? detectLanguage(parts.text),
    canonicalUrl: facts.canonicalUrl,
    metadata: facts.metadata,
    links,
    ...(context.anchors ? { anchors: anchorTexts(page.anchors, links, base) } : {}),
    text: parts.text,
    markdown: renderMarkdown(content.roots, base),
    sections: parts.sections,
    blocks: parts.blocks,
    robots: facts.robots,
  });
}

/**
 * Extracts the main content as HTML that is safe to show: without scripts, styles and attributes other than those of
 * links, images and tables, with absolute URLs. Formulas are MathML, or TeX where there is none.
 * @example
 * extractMainHtml("<nav>…</nav><main><p onclick=x>Text", "https://example.org/") // => "<p>Text</p>"
 */
export function extractMainHtml(html: string, url: string, selection: ContentSelection = MAIN_CONTENT): string {
  const page = parsePage(storable(html), { withUnshown: hasSelectors(selection) });
  writeListings(page);
  keepFormulas(page);
  return renderHtml(selectContent(page, selection).roots, baseUrl(page, url));
}

/**
 * For text/plain, and for XML once its tags are gone. The first line serves as title if it is short enough to be one.
 */
export function extractPlainText(text: string): Extraction {
  const parts = plainTextParts(storable(text));
  const firstLine = parts.text.slice(0, 201).split("\n", 1)[0] ?? "";
  return {
    title: firstLine === "" || firstLine.length > 200 ? null : firstLine,
    language: detectLanguage(parts.text),
    canonicalUrl: null,
    metadata: { author: null, description: null, keywords: [], ogImage: null, publishDate: null },
    links: [],
    text: parts.text,
    markdown: parts.text,
    sections: parts.sections,
    blocks: parts.blocks,
    robots: { noindex: false, nofollow: false },
  };
}
