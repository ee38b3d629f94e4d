/** Resolves the links of a page by WHATWG URL against the first `<base href>`. */
import type { Page } from "../parse/page-tree.ts";

/** An href beyond this is never crawled; it is data in disguise. */
const MAX_HREF = 8192;

/** Base for every relative URL of the page: the first `<base href>`, if it resolves, else the page's own URL. */
export function baseUrl(page: Page, pageUrl: string): string {
  if (page.baseHref === null) return pageUrl;
  return resolveUrl(page.baseHref, pageUrl) ?? pageUrl;
}

/**
 * Resolves a reference.
 * @returns an absolute http(s) URL, or null for everything else
 */
export function resolveUrl(reference: string, base: string): string | null {
  if (reference.length > MAX_HREF) return null;
  const url = URL.parse(reference, base);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  return url.href;
}

/**
 * Resolves the links of a page.
 * @returns absolute http(s) URLs without fragment, in document order, each once
 */
export function pageLinks(hrefs: readonly string[], base: string): string[] {
  const seen = new Set<string>();
  const links = new Set<string>();
  for (const href of hrefs) {
    if (seen.has(href)) continue;
    seen.add(href);
    const url = resolveUrl(href, base);
    if (url === null) continue;
    const hash = url.indexOf("#");
    links.add(hash === -1 ? url : url.slice(0, hash));
  }
  return [...links];
}
