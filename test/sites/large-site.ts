/**
 * The site that the crawl engine is tested against: 2,000 pages, and beside them whatever the web has in store. The
 * same at every run, and on loopback only; each further host is a port of its own. `/page/0` leads to the 2,000 pages
 * and nowhere else, `/` to all of it.
 *
 * | path | what is there |
 * |---|---|
 * | `/page/0` … `/page/1999` | pages that link to each other |
 * | `/news/2015/03/12/story-1` … | a dated archive with an article under each date; `/news/` lists it page by page |
 * | `/index.php?id=1` … | pages that differ in their query only |
 * | `/calendar/2024/01`, `/shop/`, `/filter`, `/maze/`, `/mirror/` | traps: see traps.ts |
 * | `/redirect/chain/3` | redirects to 2, 1, 0 and then to a page; up to any length |
 * | `/redirect/loop/a`, `/redirect/self`, `/redirect/off`, `/redirect/private` | loops, and redirects to another host |
 * | `/limited/seconds`, `/limited/date` | 429 with `Retry-After` at first, then a page |
 * | `/charset/<label>` | a page in each of `CHARSETS` |
 * | `/app`, `/app/items.json` | a page that only a script fills in |
 * | `/sitemap.xml` | an index of sitemaps: `.xml.gz`, gzip without the name, text, and one with faults |
 * | `/feed.rss`, `/feed.atom` | feeds |
 */
import type { IncomingMessage } from "node:http";
import { CHARSETS, charsetPage } from "./charset-pages.ts";
import { pageGraph } from "./page-graph.ts";
import { singlePageApplication } from "./single-page-application.ts";
import {
  html,
  type RawAnswer,
  type RequestLogEntry,
  type Route,
  redirect,
  type Site,
  type SiteAnswer,
  startSite,
} from "./site.ts";
import { sitemapRoutes } from "./sitemap-files.ts";
import { createTraps, document } from "./traps.ts";

export { CHARSETS } from "./charset-pages.ts";

export interface LargeSiteOptions {
  /** Of the graph below `/page/`. */
  pages?: number;
  linksPerPage?: number;
  /** Pages that differ in their query only. */
  queryPages?: number;
  /** Of one page of the graph, roughly. */
  pageBytes?: number;
  /** Of every answer of the slow host, in ms. */
  slowMs?: number;
  /** What `/limited/…` asks for, in seconds. */
  retryAfterS?: number;
}

export interface LargeSite extends AsyncDisposable {
  /** The host described above. */
  main: Site;
  /** Its robots.txt answers 503. */
  robotsDown: Site;
  /** Answers late. */
  slow: Site;
  /** Where `/redirect/off` leads. */
  elsewhere: Site;
  /** All hosts with their ports, as `ACCESS__ALLOW_HOSTS` takes them. */
  hosts: string[];
  /** Of all hosts, in order of arrival. */
  requests(): (RequestLogEntry & { host: string })[];
  close(): Promise<void>;
}

const ROBOTS = (origin: string): SiteAnswer => ({
  headers: { "Content-Type": "text/plain" },
  body: `User-agent: *\nDisallow: /private/\nSitemap: ${origin}/sitemap.xml\n`,
});

export const NEWS_STORIES = 120;
const STORIES_PER_PAGE = 10;
export const QUERY_PAGES = 300;

export async function startLargeSite(options: LargeSiteOptions = {}): Promise<LargeSite> {
  const { pages = 2000, linksPerPage = 10, pageBytes = 1500, slowMs = 400, retryAfterS = 3 } = options;
  const { queryPages = QUERY_PAGES } = options;
  const few = pageGraph({ pages: 20, linksPerPage: 5, pageBytes: 600 });
  const elsewhere = await startSite(few);
  const slow = await startSite(few, () => ({ status: 404 }));
  slow.route(
    Object.fromEntries(
      Object.entries(few).map(([path, route]) => [path, { ...(route as SiteAnswer), delayMs: slowMs }]),
    ),
  );
  const robotsDown = await startSite({ ...few, "/robots.txt": { status: 503, body: "try again later" } });
  const traps = createTraps();
  const main = await startSite(
    pageGraph({ pages, linksPerPage, pageBytes }),
    (request) => traps(request) ?? charsetPage(request.url ?? "") ?? { status: 404, body: "no such page" },
  );
  main.route({
    "/robots.txt": ROBOTS(main.origin),
    "/": html(document("Large site", sections(elsewhere.origin))),
    ...news(),
    ...recordsByQuery(queryPages),
    ...redirects(elsewhere.origin),
    ...limited(retryAfterS),
    ...singlePageApplication(),
    ...sitemapRoutes(main.origin, elsewhere.origin, pages),
  });
  const all = [main, robotsDown, slow, elsewhere];
  const close = async (): Promise<void> => void (await Promise.all(all.map((site) => site.close())));
  return {
    main,
    robotsDown,
    slow,
    elsewhere,
    hosts: all.map((site) => site.host),
    requests: () =>
      all.flatMap((site) => site.requests.map((entry) => ({ ...entry, host: site.host }))).sort((a, b) => a.at - b.at),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function sections(elsewhere: string): string {
  const paths = [
    "/page/0",
    "/news/",
    "/index.php?id=1",
    "/calendar/2024/01",
    "/shop/",
    "/filter",
    "/maze/",
    "/mirror/",
    "/redirect/chain/3",
    "/redirect/loop/a",
    "/redirect/off",
    "/app",
    ...CHARSETS.map((charset) => `/charset/${charset}`),
    `${elsewhere}/`,
  ];
  return `<ul>${paths.map((path) => `<li><a href="${path}">${path}</a></li>`).join("")}</ul>`;
}

/** Every story has a text and a date of its own. */
function news(): Record<string, Route> {
  const routes: Record<string, Route> = {};
  const stories = Array.from({ length: NEWS_STORIES }, (_, at) => {
    const day = new Date(Date.UTC(2012, 0, 1 + at * 31));
    return `/news/${day.toISOString().slice(0, 10).replaceAll("-", "/")}/story-${at}`;
  });
  for (const [at, path] of stories.entries()) {
    const text = Array.from({ length: 8 }, (_, line) => `Report ${at * 8 + line} of the harbour master.`).join(" ");
    routes[path] = html(document(`Story ${at}`, `<p>${text}</p>`));
  }
  routes["/news/"] = ({ url = "" }: IncomingMessage): SiteAnswer => {
    const page = Number(new URLSearchParams(url.split("?")[1]).get("page") ?? "1");
    const shown = stories.slice((page - 1) * STORIES_PER_PAGE, page * STORIES_PER_PAGE);
    if (shown.length === 0) return { status: 404 };
    const links = shown.map((path) => `<li><a href="${path}">${path}</a></li>`).join("");
    const next = page * STORIES_PER_PAGE < NEWS_STORIES ? `<a href="/news/?page=${page + 1}">Older</a>` : "";
    return html(document(`News, page ${page}`, `<ul>${links}</ul>${next}`));
  };
  return routes;
}

function recordsByQuery(count: number): Record<string, Route> {
  return {
    "/index.php": ({ url = "" }: IncomingMessage): SiteAnswer => {
      const id = Number(new URLSearchParams(url.split("?")[1]).get("id"));
      if (!(id >= 1 && id <= count)) return { status: 404 };
      const next = [id + 1, id + 2].filter((each) => each <= count);
      const links = next.map((each) => `<a href="/index.php?id=${each}">Record ${each}</a>`).join(" ");
      return html(document(`Record ${id}`, `<p>Record ${id} holds ${id * 7} entries.</p><p>${links}</p>`));
    },
  };
}

function redirects(elsewhere: string): Record<string, Route> {
  const chain = Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [
      `/redirect/chain/${at}`,
      redirect(at === 0 ? "/page/1" : `/redirect/chain/${at - 1}`, at % 2 === 0 ? 301 : 302),
    ]),
  );
  return {
    ...chain,
    "/redirect/loop/a": redirect("/redirect/loop/b"),
    "/redirect/loop/b": redirect("/redirect/loop/a"),
    "/redirect/self": redirect("/redirect/self"),
    "/redirect/off": redirect(`${elsewhere}/page/3`),
    "/redirect/private": redirect("http://169.254.169.254/latest/meta-data/"),
  };
}

/** The first request of each path is turned away. */
function limited(retryAfterS: number): Record<string, Route> {
  const seen = new Set<string>();
  const route =
    (retryAfter: () => string): Route =>
    ({ url = "" }: IncomingMessage): SiteAnswer | RawAnswer => {
      if (seen.has(url)) return html(document("Patience", "<p>Now there is time for you.</p>"));
      seen.add(url);
      return { status: 429, headers: { "Retry-After": retryAfter() }, body: "too many requests" };
    };
  return {
    "/limited/seconds": route(() => String(retryAfterS)),
    // an HTTP date has whole seconds: rounded up, it never asks for less
    "/limited/date": route(() => new Date(Math.ceil(Date.now() / 1000 + retryAfterS) * 1000).toUTCString()),
  };
}
