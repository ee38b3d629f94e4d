/** Collects what the list of a monitored source names: checked, each URL once, with what tells that it has changed. */
import { inspectUrl, type UrlInspector, UrlRefusedError } from "../../access/url-inspection.ts";
import { normalizeUrl } from "../urls/normalize-url.ts";
import { compilePatterns } from "../urls/patterns.ts";
import { latestTimeOf } from "./list-dates.ts";
import type { ListedEntry, WantedList } from "./list-task.ts";
import type { Notes } from "./notes.ts";
import type { ListEntry } from "./parsed-list.ts";
import { isOfSite, parseSite } from "./site.ts";

/** Entries of one run: what a sitemap may hold. */
const MOST_ENTRIES = 50_000;
const LONGEST_VERSION = 500;

export interface ListedEntries {
  /** @param document the list's own address */
  take(entry: ListEntry, document: URL): void;
  /** No more are taken. */
  readonly full: boolean;
  all(): ListedEntry[];
}

/** @throws RE2JSException where a pattern is malformed; UrlRefusedError where the list's URL may not be fetched */
export function createListedEntries(
  { type, url, include, exclude }: WantedList,
  inspector: Pick<UrlInspector, "inspect">,
  notes: Notes,
): ListedEntries {
  const included = include.length === 0 ? () => true : compilePatterns(include);
  const excluded = exclude.length === 0 ? () => false : compilePatterns(exclude);
  const site = parseSite(new URL(url).origin, inspector);
  const entries = new Map<string, ListedEntry>();

  /** Why an entry is not taken, as a note has it; null where nobody needs to hear. */
  const refusalOf = (parsed: URL | null): [code: string, message: string] | undefined => {
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
      return ["URL_INVALID", "Entries whose URLs are no http(s) URLs of at most 2048 characters"];
    }
    // by its protocol a sitemap speaks of its own site; feeds link to wherever they like
    if (type === "sitemap" && !isOfSite(parsed, site)) return ["WRONG_HOST", "Entries of other hosts"];
    const checked = inspectUrl(inspector, parsed.href);
    if (!(checked instanceof UrlRefusedError)) return undefined;
    return [checked.code, "Entries that lead to addresses that are not public, or are no URLs that can be fetched"];
  };

  return {
    get full() {
      return entries.size >= MOST_ENTRIES;
    },
    take({ url: text, base, lastmod, badLastmod, dated, id }, document) {
      if (entries.size >= MOST_ENTRIES) return;
      if (text === null) return notes.count(document.href, "URL_MISSING", "Entries without a URL");
      const parsed = URL.parse(text, type === "feed" ? (base ?? document).href : undefined);
      const refusal = refusalOf(parsed);
      if (parsed === null || refusal !== undefined) {
        if (refusal !== undefined) notes.count(document.href, ...refusal);
        return;
      }
      const page = normalizeUrl(parsed);
      if (!included(page) || excluded(page)) return;
      if (badLastmod) notes.count(document.href, "LASTMOD_INVALID", "Entries whose date cannot be read");
      const version = (dated ?? id ?? "").slice(0, LONGEST_VERSION);
      const entry = { url: page, version, dated: lastmod === null ? null : latestTimeOf(lastmod) };
      const held = entries.get(page);
      // of a page named twice the later date counts; without dates the first, since feeds begin with the newest
      if (held === undefined || (entry.dated ?? -1) > (held.dated ?? -1)) entries.set(page, entry);
      if (entries.size < MOST_ENTRIES) return;
      notes.add(document.href, "TOO_MANY_ENTRIES", `Only ${MOST_ENTRIES} entries are read at once: the rest is next`);
    },
    all: () => [...entries.values()],
  };
}
