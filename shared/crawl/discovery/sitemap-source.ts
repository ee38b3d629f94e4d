/**
 * Sitemaps and feeds: those that robots.txt names, those at the usual places, those that the home page links to, and
 * what the indexes among them name.
 */

import type { RobotsRules } from "../robots/rules.ts";
import type { Refusal } from "./collector.ts";
import type { GetOptions } from "./fetcher.ts";
import { type ReadList, readList } from "./list-reader.ts";
import type { ListEntry, ListKind } from "./parsed-list.ts";
import { isOfSite, siteRoots } from "./site.ts";
import { linkedLists } from "./site-links.ts";
import type { SourceContext, SourceFault, UrlSource } from "./url-source.ts";

const USUAL_SITEMAPS = [
  "/sitemap.xml",
  "/sitemap_index.xml",
  "/sitemap-index.xml",
  "/sitemap.xml.gz",
  "/wp-sitemap.xml",
  "/sitemap.txt",
];
const USUAL_FEEDS = ["/feed", "/rss.xml", "/atom.xml", "/feed.xml"];

/** Lists of one discovery, of all kinds. */
const MOST_LISTS = 1_000;
/** Indexes within indexes; by the protocol there is one level. */
const DEEPEST_INDEX = 3;
/** Tries of a list that something names. */
const TRIES = 3;
/** A site that fails for paths that may not exist is not asked for more of them. */
const MOST_FAILED_GUESSES = 2;

const ACCEPT_LIST = "application/xml,text/xml,application/rss+xml,application/atom+xml,text/plain;q=0.8,*/*;q=0.5";
const ACCEPT_PAGE = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5";

interface WantedList {
  url: URL;
  /** Indexes above it. */
  depth: number;
  robots: Exclude<GetOptions["robots"], "api">;
  /** Nothing names it: that it is not there means nothing. */
  guessed: boolean;
}

export const sitemapSource: UrlSource = {
  async collect(context) {
    const entrance = await enter(context);
    if ("fault" in entrance) return entrance.fault;
    const { root, named } = entrance;
    const reading = createReading(context);
    for (const url of named)
      reading.want({ url, depth: 0, robots: url.origin === root.origin ? "invited" : "obey", guessed: false });
    await reading.readAll();
    // a site that says where its sitemaps are needs no guesses, each of which waits for a slot of the host
    const guesses = reading.lists === 0;
    if (guesses) {
      for (const path of USUAL_SITEMAPS)
        reading.want({ url: new URL(path, root), depth: 0, robots: "obey", guessed: true });
      await reading.readAll();
    }
    if (context.collector.full) return null;
    const links = await homePageLinks(context, root);
    for (const url of links) reading.want({ url, depth: 0, robots: "obey", guessed: false });
    if (links.length === 0 && guesses) {
      for (const path of USUAL_FEEDS)
        reading.want({ url: new URL(path, root), depth: 0, robots: "obey", guessed: true });
    }
    await reading.readAll();
    if (reading.lists === 0) {
      context.notes.add(
        root.href,
        "NO_SITEMAP",
        "robots.txt and the home page name no sitemap or feed, and there is none at the usual places",
      );
    }
    return null;
  },
};

/** The first root of the site that answers, and the lists that its robots.txt names. */
async function enter({
  site,
  fetcher,
  notes,
}: SourceContext): Promise<{ root: URL; named: URL[] } | { fault: SourceFault }> {
  const faults: SourceFault[] = [];
  for (const root of siteRoots(site)) {
    const rules = await fetcher.robotsOf(root);
    if (!("code" in rules)) return { root, named: namedSitemaps(rules, root, notes) };
    faults.push(rules);
    if (!fetcher.goesOnWithoutRobots) continue;
    const page = await fetcher.get(root, { accept: ACCEPT_PAGE, robots: "obey" });
    if (page.fault === null || page.status > 0) return { root, named: [] };
  }
  const [{ code, message } = { code: "ROBOTS_UNREACHABLE", message: "No answer" }] = faults;
  return { fault: { code, message } };
}

/** The standard asks for absolute URLs; what a relative one means is plain. */
function namedSitemaps({ sitemaps }: RobotsRules, root: URL, notes: SourceContext["notes"]): URL[] {
  const robots = new URL("/robots.txt", root);
  return sitemaps.flatMap((line) => {
    const url = URL.parse(line, robots.href);
    if (url !== null && /^https?:$/.test(url.protocol)) return [url];
    notes.count(robots.href, "URL_INVALID", "Sitemap lines that are no http(s) URLs");
    return [];
  });
}

async function homePageLinks({ fetcher, notes }: SourceContext, root: URL): Promise<URL[]> {
  const page = await fetcher.get(root, { accept: ACCEPT_PAGE, robots: "obey" });
  if (page.fault === null) return await linkedLists(page.response, page.url);
  notes.add(root.href, page.fault.code, `The home page, which may name feeds: ${page.fault.message}`);
  return [];
}

interface Reading {
  /** Each URL once, however often it is named. */
  want(list: WantedList): void;
  /** Until nothing is wanted any more, or the collector is full. */
  readAll(): Promise<void>;
  /** Lists read so far that were lists. */
  readonly lists: number;
}

function createReading(context: SourceContext): Reading {
  const { fetcher, collector, notes, site } = context;
  const seen = new Set<string>();
  let queue: WantedList[] = [];
  let lists = 0;
  let failedGuesses = 0;

  const want = (list: WantedList): void => {
    list.url.hash = "";
    if (seen.has(list.url.href)) return;
    if (seen.size >= MOST_LISTS) {
      notes.count(site.hostname, "TOO_MANY_SITEMAPS", `Only the first ${MOST_LISTS} sitemaps and feeds are read`);
      return;
    }
    seen.add(list.url.href);
    queue.push(list);
  };

  /** Why a sitemap that an index names is not read. */
  const childFault = (url: URL | null, parent: WantedList, base: URL): [code: string, message: string] | undefined => {
    if (url === null || !/^https?:$/.test(url.protocol)) {
      return ["URL_INVALID", "Sitemaps of an index that are no absolute http(s) URLs"];
    }
    if (!isOfSite(url, site) && url.host !== base.host) {
      return ["WRONG_HOST", "Sitemaps of an index that are on other hosts"];
    }
    if (parent.depth >= DEEPEST_INDEX) {
      return ["INDEX_TOO_DEEP", `Sitemaps below ${DEEPEST_INDEX} indexes are not read`];
    }
    return undefined;
  };

  const wantChild = (entry: ListEntry, parent: WantedList, base: URL): void => {
    const url = entry.url === null ? null : URL.parse(entry.url);
    const fault = childFault(url, parent, base);
    if (fault !== undefined) notes.count(base.href, ...fault);
    if (fault !== undefined || url === null) return;
    // whom robots.txt invites to the index, it invites to what that lists
    const robots = url.origin === parent.url.origin ? parent.robots : "obey";
    want({ url, depth: parent.depth + 1, robots, guessed: false });
  };

  const read = async (list: WantedList): Promise<void> => {
    const { url, robots, guessed } = list;
    const fetched = await fetcher.get(url, { accept: ACCEPT_LIST, robots, tries: guessed ? 1 : TRIES });
    if (fetched.fault !== null) {
      const missing = fetched.status >= 400 && fetched.status < 500 && fetched.status !== 429;
      if (guessed && !missing && fetched.fault.code !== "ROBOTS_DENIED") failedGuesses += 1;
      if (!guessed || !missing) notes.add(url.href, fetched.fault.code, fetched.fault.message);
      return;
    }
    // another name for it, by a redirect
    if (fetched.url.href !== url.href && seen.has(fetched.url.href)) return;
    seen.add(fetched.url.href);
    const offer = offering(context, fetched.url);
    const sink = { page: offer, sitemap: (entry: ListEntry) => wantChild(entry, list, fetched.url) };
    const result = await readList(fetched.response, sink, {
      document: fetched.url,
      enough: () => collector.full,
    });
    const isList = LISTS.has(result.kind);
    if (isList) lists += 1;
    if (guessed && !isList) return;
    if (!isList) notes.add(url.href, ...noList(result));
    if (result.cut !== null) notes.add(url.href, result.cut.code, result.cut.message);
  };

  return {
    want,
    get lists() {
      return lists;
    },
    async readAll() {
      for (let next = queue.shift(); next !== undefined && !collector.full; next = queue.shift()) {
        if (next.guessed && failedGuesses >= MOST_FAILED_GUESSES) continue;
        await read(next);
      }
      queue = [];
    },
  };
}

const LISTS = new Set<ListKind>(["sitemap", "index", "feed", "text"]);

function noList({ kind, root }: ReadList): [code: string, message: string] {
  switch (kind) {
    case "html":
      return ["HTML_INSTEAD", "It is an HTML page, no sitemap or feed"];
    case "empty":
      return ["EMPTY_BODY", "It is empty"];
    default:
      return ["NOT_A_SITEMAP", `It is no sitemap or feed${root === undefined ? "" : `: its root element is ${root}`}`];
  }
}

const REFUSALS: Partial<Record<Refusal, string>> = {
  URL_INVALID: "Entries whose URLs are not absolute http(s) URLs of at most 2048 characters",
  URL_BLOCKED: "Entries that lead to addresses that are not public",
  WRONG_HOST: "Entries of other hosts",
};

/** Offers the entries of one list, and notes those that are refused. */
function offering({ collector, notes }: SourceContext, list: URL): (entry: ListEntry, kind: ListKind) => void {
  return ({ url, base = list, lastmod, badLastmod, title }, kind) => {
    if (badLastmod)
      notes.count(list.href, "LASTMOD_INVALID", "Entries whose date is no W3C datetime: taken without it");
    if (url === null) {
      notes.count(list.href, "URL_MISSING", "Entries without a URL");
      return;
    }
    const feed = kind === "feed";
    const refusal = collector.offer({
      url,
      // by its protocol, a sitemap names absolute URLs only
      ...(feed ? { base } : {}),
      lastmod,
      title,
      source: feed ? "feed" : "sitemap",
      foundIn: list.href,
    });
    const message = refusal === null ? undefined : REFUSALS[refusal];
    if (refusal !== null && message !== undefined) notes.count(list.href, refusal, message);
  };
}
