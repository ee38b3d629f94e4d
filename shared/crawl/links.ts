/** The links of captured pages that a job may follow. */
import type { NewUrl } from "./frontier.ts";
import type { ScopeJudge } from "./scope-judge.ts";
import { normalizeUrl, urlHash } from "./url-key.ts";

/** Longest URL that is followed, in characters: the limit of the URL guard. */
const MAX_URL_LENGTH = 2048;

/** A page, and what it links to. */
export interface LinkingPage {
  url: string;
  depth: number;
  /** Absolute URLs in document order. */
  links: readonly string[];
}

/** In order of pages and links, each URL once, at the least depth that the pages give it. */
export function linkedUrls(pages: readonly LinkingPage[], scope: ScopeJudge): NewUrl[] {
  const found = new Map<string, NewUrl>();
  const seen = new Set<string>();
  for (const page of pages.toSorted((a, b) => a.depth - b.depth)) {
    for (const link of page.links) {
      if (seen.has(link) || link.length > MAX_URL_LENGTH || !URL.canParse(link)) continue;
      seen.add(link);
      const parsed = new URL(link);
      if (!/^https?:$/.test(parsed.protocol)) continue;
      const url = normalizeUrl(parsed);
      if (found.has(url) || !scope.admits(new URL(url))) continue;
      found.set(url, { url, urlHash: urlHash(url), depth: page.depth + 1, discoveredFrom: page.url });
    }
  }
  return [...found.values()];
}
