/**
 * The URLs of a discovery: checked, each once, the best of them where they are scored. Memory is bounded by `maxUrls`.
 */
import { inspectUrl, type UrlInspector, UrlRefusedError } from "../../access/url-inspection.ts";
import { normalizeUrl } from "../urls/normalize-url.ts";
import { compilePatterns } from "../urls/patterns.ts";
import { relevanceOf, TITLE_WEIGHT, urlFields } from "../urls/relevance.ts";
import { isOfSite, type Site } from "./site.ts";

export interface Candidate {
  /** Absolute, or relative to `base`. */
  url: string;
  base?: URL;
  lastmod: string | null;
  title: string | null;
  source: "sitemap" | "feed" | "common_crawl";
  /** URL of the list that names it. */
  foundIn: string;
}

export interface DiscoveredUrl {
  url: string;
  /** W3C datetime. */
  lastmod: string | null;
  source: Candidate["source"];
  found_in: string;
  /** 0 to 1; null where nothing was asked for. */
  score: number | null;
}

/** Why a candidate is not taken. `PATTERN` and `SCORE` are what the caller asked for, and no fault. */
export type Refusal = "URL_INVALID" | "URL_BLOCKED" | "WRONG_HOST" | "PATTERN" | "SCORE" | "DUPLICATE";

export interface Collector {
  /** @returns why it is not taken; null where it is, for now */
  offer(candidate: Candidate): Refusal | null;
  /** More candidates would change nothing. */
  readonly full: boolean;
  /** Best first where they are scored, else in the order found; at most `maxUrls`. */
  urls(): DiscoveredUrl[];
  /** More URLs were found than may be returned. */
  readonly overflowed: boolean;
}

export interface CollectorOptions {
  site: Site;
  inspector: Pick<UrlInspector, "inspect">;
  pattern: string | null;
  keywords: readonly string[];
  scoreThreshold: number;
  maxUrls: number;
}

/** @throws RE2JSException where the pattern is malformed */
export function createCollector({ site, inspector, ...options }: CollectorOptions): Collector {
  const { keywords, scoreThreshold, maxUrls } = options;
  const matches = options.pattern === null ? () => true : compilePatterns([options.pattern]);
  const scored = keywords.length > 0;
  let kept = new Map<string, DiscoveredUrl>();
  /** The least score that may still get in, once twice as many are kept as may be returned. */
  let bar = scored ? scoreThreshold : 0;
  let overflowed = false;

  const prune = (): void => {
    if (kept.size < 2 * maxUrls) return;
    kept = new Map(ranked(kept, maxUrls).map((each) => [each.url, each]));
    bar = Math.max(bar, [...kept.values()].at(-1)?.score ?? 0);
    overflowed = true;
  };

  return {
    get full() {
      return !scored && kept.size >= maxUrls;
    },
    get overflowed() {
      return overflowed || kept.size > maxUrls;
    },
    offer({ url: text, base, lastmod, title, source, foundIn }) {
      const parsed = URL.parse(text, base?.href);
      if (parsed === null || !/^https?:$/.test(parsed.protocol)) return "URL_INVALID";
      if (!isOfSite(parsed, site)) return "WRONG_HOST";
      const checked = inspectUrl(inspector, parsed.href);
      if (checked instanceof UrlRefusedError) return checked.code;
      const url = normalizeUrl(checked);
      const held = kept.get(url);
      if (held !== undefined) {
        held.lastmod ??= lastmod;
        return "DUPLICATE";
      }
      if (!matches(url)) return "PATTERN";
      const score = scored ? relevanceOf(keywords, fieldsOf(parsed, title)) : null;
      if (score !== null && (score < scoreThreshold || (overflowed && score <= bar))) return "SCORE";
      if (!scored && kept.size >= maxUrls) {
        overflowed = true;
        return null;
      }
      kept.set(url, { url, lastmod, source, found_in: foundIn, score: score === null ? null : rounded(score) });
      prune();
      return null;
    },
    urls: () => ranked(kept, maxUrls),
  };
}

function ranked(kept: ReadonlyMap<string, DiscoveredUrl>, most: number): DiscoveredUrl[] {
  // stable: of the same score, the one found first
  return [...kept.values()].sort((a, b) => (b.score ?? 0) - (a.score ?? 0)).slice(0, most);
}

function fieldsOf(url: URL, title: string | null) {
  return [...urlFields(url), ...(title === null ? [] : [{ text: title, weight: TITLE_WEIGHT }])];
}

const rounded = (score: number): number => Math.round(score * 10_000) / 10_000;
