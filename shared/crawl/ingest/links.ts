/** Finds the links of captured pages that a job may follow. */
import type { NewUrl } from "../frontier/frontier.ts";
import type { ScopeCheck } from "../urls/exact-scope.ts";
import { type KeyRules, normalized, urlHash } from "../urls/normalize-url.ts";

/** Longest URL that is followed, in characters: the limit of the URL guard. */
const MAX_URL_LENGTH = 2048;

/** A page, and what it links to. */
export interface LinkingPage {
  url: string;
  depth: number;
  /** Absolute URLs in document order. */
  links: readonly string[];
}

export interface LinkRules {
  scope: ScopeCheck;
  key?: KeyRules;
  /** 0 to 1. Links below `threshold` are not followed, unless another page or anchor gives them more. */
  score?: { of(url: URL, page: number, position: number): number; threshold: number };
  /** Links to leave out, as they are on the pages. Not together with `score`. */
  seen?: ReadonlySet<string> | undefined;
  /** Called with what each link became; null: none that is followed. Not together with `score`. */
  note?(link: string, url: string | null): void;
}

/** In order of pages and links, each URL once, at the least depth and with the best score that the pages give it. */
export function linkedUrls(pages: readonly LinkingPage[], rules: LinkRules): NewUrl[] {
  const { scope, key, score } = rules;
  const found = new Map<string, NewUrl>();
  const seen = new Set<string>();
  const byDepth = pages.map((page, index) => ({ page, index })).sort((a, b) => a.page.depth - b.page.depth);
  for (const { page, index } of byDepth) {
    for (const [position, link] of page.links.entries()) {
      // what a link is worth is a matter of the page and the anchor, too
      if (score === undefined && (seen.has(link) || rules.seen?.has(link))) continue;
      seen.add(link);
      const url = followable(link, key);
      const known = url === null ? undefined : found.get(url.href);
      const followed = url !== null && (known !== undefined || scope.admits(url));
      rules.note?.(link, followed ? url.href : null);
      if (!followed) continue;
      const value = score?.of(url, index, position) ?? null;
      if (value !== null && value < (score?.threshold ?? 0)) continue;
      if (known !== undefined) {
        known.score = value === null ? null : Math.max(known.score ?? 0, value);
        continue;
      }
      found.set(url.href, {
        url: url.href,
        urlHash: urlHash(url.href),
        depth: page.depth + 1,
        discoveredFrom: page.url,
        page: index,
        position,
        score: value,
      });
    }
  }
  return [...found.values()];
}

/** Normalised; null for what is no http(s) URL of a length that is fetched. */
function followable(link: string, key?: KeyRules): URL | null {
  if (link.length > MAX_URL_LENGTH) return null;
  const parsed = URL.parse(link);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return null;
  return normalized(parsed, key);
}
