/** Merges what several providers found into one list: each page once, with all who found it. */
import { createHash } from "node:crypto";
import { normalizeUrl } from "../crawl/urls/normalize-url.ts";

export interface ProviderUrls {
  provider: string;
  /** As returned, best first. */
  urls: readonly string[];
}

export interface MergedUrl {
  /** As the provider returned it that ranks it best. */
  url: string;
  /** In the order of the providers given. */
  providers: string[];
  /** Distinct providers. */
  confidence: number;
  /** SHA-1 of the normalised URL, hex. */
  dedupeHash: string;
}

/** Most providers first, then the best rank, then the order in which providers and URLs were given. */
export function mergeUrls(found: readonly ProviderUrls[]): MergedUrl[] {
  const merged = new Map<string, MergedUrl & { rank: number }>();
  for (const { provider, urls } of found) {
    for (const [rank, url] of urls.entries()) {
      if (!isWebUrl(url)) continue;
      const key = pageKey(url);
      const held = merged.get(key);
      if (held === undefined) {
        const dedupeHash = createHash("sha1").update(key).digest("hex");
        merged.set(key, { url, providers: [provider], confidence: 1, dedupeHash, rank });
        continue;
      }
      if (!held.providers.includes(provider)) held.providers.push(provider);
      held.confidence = held.providers.length;
      if (rank < held.rank) Object.assign(held, { url, rank });
    }
  }
  return [...merged.values()]
    .sort((one, other) => other.confidence - one.confidence || one.rank - other.rank)
    .map(({ rank: _, ...each }) => each);
}

/**
 * The key of a crawl, with escapes as RFC 3986 section 6.2.2 has them and without the final dot of an absolute name: a
 * crawl asks for URLs as pages write them, a search engine writes them as it likes.
 */
function pageKey(url: string): string {
  const parsed = new URL(
    new URL(url).href.replace(/%[0-9a-f]{2}/gi, (escaped) => {
      const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
      return /[\w.~-]/.test(character) ? character : escaped.toUpperCase();
    }),
  );
  parsed.hostname = parsed.hostname.replace(/\.$/, "");
  return normalizeUrl(parsed);
}

const isWebUrl = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
