/**
 * The score of a link in a best-first crawl, from what is known before it is fetched: what its URL and its anchor text say
 * (relevance.ts), and the page that it stands on. As in the shark-search of Hersovici et al. (1998), a link inherits a share of
 * its page's relevance:
 *
 *   score = own + (1 − own) · 0.2 · parent
 */
import { keywordsOf, relevanceOf, TITLE_WEIGHT, urlFields } from "./relevance.ts";

const INHERITED = 0.2;

export interface LinkScorer {
  /** What a page that links to others says of the keywords, 0 to 1. @param text its beginning is enough */
  page(title: string | null, text: string): number;
  /** @param anchor empty where the link has no text @param parent as `page` gives it */
  link(url: URL, anchor: string, parent: number): number;
}

/** @param phrases words or phrases, each word of which counts */
export function linkScorer(phrases: readonly string[]): LinkScorer {
  const keywords = keywordsOf(phrases.join(" "));
  return {
    page(title, text) {
      const fields = [{ text, weight: 1 }];
      if (title !== null) fields.push({ text: title, weight: 1 });
      return relevanceOf(keywords, fields);
    },
    link(url, anchor, parent) {
      const own = relevanceOf(keywords, [...urlFields(url), { text: anchor, weight: TITLE_WEIGHT }]);
      return own + (1 - own) * INHERITED * parent;
    },
  };
}
