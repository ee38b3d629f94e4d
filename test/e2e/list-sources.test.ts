/** Monitored feeds and sitemaps on the whole runtime, against sites whose lists change between runs. */
import { gzipSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import type { RunningInstance } from "../services/instance.ts";
import { sharedRuntime } from "../services/shared-runtime.ts";
import { html, type Route, type Site, startSite } from "../sites/site.ts";

interface Run {
  job_id: string;
  status: string;
  error: string | null;
  counts: { crawled: number; failed: number };
  list: {
    documents_read: number;
    documents_unchanged: number;
    entries: number;
    taken: number;
    left: number;
    notes: { code: string; count: number | null }[];
  };
}

let instance: RunningInstance;
beforeAll(async () => {
  instance = await sharedRuntime();
});

const page = (name: string): Route =>
  html(`<html lang="en"><title>${name}</title><p>The tide comes in at ${name}.</p></html>`);

const robots: Route = { headers: { "content-type": "text/plain" }, body: "User-agent: *\nDisallow: /private\n" };

async function monitor(url: string, type: string, list: object = {}): Promise<string> {
  const body = { name: url, type, url, list, config: { rate_limit_rps: 100 } };
  return (await instance.call<{ id: string }>("POST", "/api/v1/sources", body)).id;
}

/** Crawls it once, to the end. */
async function run(source: string): Promise<Run> {
  const { job_id } = await instance.call<{ job_id: string }>("POST", `/api/v1/sources/${source}/trigger`);
  await instance.waitForJob(job_id).catch(() => undefined);
  const { runs } = await instance.call<{ runs: Run[] }>("GET", `/api/v1/sources/${source}`);
  expect(runs[0]?.job_id).toBe(job_id);
  return runs[0] as Run;
}

/** Pages that were asked for since the last time. */
function asked(site: Site): string[] {
  const paths = site.requests.splice(0).map(({ path }) => path);
  return paths.filter((path) => path.startsWith("/p/")).sort();
}

const rss = (...items: string[]) => ({
  headers: { "content-type": "application/rss+xml", etag: `"${items.length}-${items.join("").length}"` },
  body: `<?xml version="1.0"?><rss version="2.0"><channel><link>/</link>${items.join("")}</channel></rss>`,
});
const item = (path: string, date?: string, guid = path) =>
  `<item><link>${path}</link><guid isPermaLink="false">${guid}</guid>${date ? `<pubDate>${date}</pubDate>` : ""}</item>`;

const old = "Mon, 02 Nov 2026 10:00:00 GMT";
const pages = Object.fromEntries(["a", "b", "c", "d"].map((name) => [`/p/${name}`, page(name)]));

it("a feed's new and changed entries are crawled, and nothing else", async () => {
  await using site = await startSite({ "/robots.txt": robots, ...pages });
  const answer =
    (given: ReturnType<typeof rss>): Route =>
    (request) =>
      request.headers["if-none-match"] === given.headers.etag ? { status: 304 } : given;
  site.route({
    "/feed": answer(rss(item("/p/a", old), item("/p/b"), item("/private/x", old), item("http://10.0.0.1/p/c", old))),
  });
  const source = await monitor(`${site.origin}/feed`, "feed");

  const first = await run(source);
  expect(first).toMatchObject({ status: "completed", list: { documents_read: 1, entries: 3, taken: 3, left: 0 } });
  expect(first.list.notes).toMatchObject([{ code: "URL_BLOCKED", count: 1 }]);
  expect(asked(site)).toEqual(["/p/a", "/p/b"]);

  const second = await run(source);
  // the page that robots.txt forbids was captured by no job, and is tried again some times
  expect(second).toMatchObject({ status: "completed", list: { documents_read: 0, documents_unchanged: 1, taken: 1 } });
  expect(asked(site)).toEqual([]);

  site.route({
    "/feed": answer(
      rss(item("/p/c"), item("/p/a", "Mon, 30 Nov 2065 10:00:00 GMT"), item("/p/b", undefined, "another")),
    ),
  });
  const third = await run(source);
  expect(third).toMatchObject({ status: "completed", list: { documents_read: 1, entries: 3 } });
  expect(asked(site)).toEqual(["/p/a", "/p/b", "/p/c"]);
});

it("what does not fit into a run is crawled by the next, the newest first, also where the feed does not change", async () => {
  await using site = await startSite({ "/robots.txt": robots, ...pages });
  const feed = {
    version: "https://jsonfeed.org/version/1.1",
    items: ["a", "b", "c"].map((name, index) => ({
      id: name,
      url: `p/${name}`,
      date_published: `2026-11-0${index + 1} 10:00:00`,
    })),
  };
  site.route({ "/feed.json": { headers: { "content-type": "application/feed+json" }, body: JSON.stringify(feed) } });
  const source = await monitor(`${site.origin}/feed.json`, "feed", { max_entries: 2 });
  expect(await run(source)).toMatchObject({ list: { entries: 3, taken: 2, left: 1 } });
  expect(asked(site)).toEqual(["/p/b", "/p/c"]);
  // it has no validators: its bytes tell that it is the same
  expect(await run(source)).toMatchObject({ list: { documents_unchanged: 1, entries: 0, taken: 1, left: 0 } });
  expect(asked(site)).toEqual(["/p/a"]);
  expect(await run(source)).toMatchObject({ status: "completed", list: { taken: 0, left: 0 }, counts: { crawled: 0 } });
});

it("a source whose patterns change reads its list anew", async () => {
  await using site = await startSite({ "/robots.txt": robots, ...pages });
  site.route({ "/feed": rss(item("/p/a"), item("/p/b"), item("/p/c")) });
  const url = `${site.origin}/feed`;
  const source = await monitor(url, "feed", { include: ["/p/[ab]"], max_entries: 1 });
  expect(await run(source)).toMatchObject({ list: { entries: 2, taken: 1, left: 1 } });
  expect(asked(site)).toEqual(["/p/a"]);
  const list = { include: ["/p/[ac]"] };
  await instance.call("PUT", `/api/v1/sources/${source}`, { name: url, type: "feed", url, list });
  expect(await run(source)).toMatchObject({ list: { documents_read: 1, entries: 2, taken: 1, left: 0 } });
  expect(asked(site)).toEqual(["/p/c"]);
});

it("the sitemaps of an index are read again only where it says that they have changed", async () => {
  await using site = await startSite({ "/robots.txt": robots, ...pages });
  const index = (...dates: string[]): Route => ({
    body: `<sitemapindex>${dates.map((date, at) => `<sitemap><loc>${site.origin}/s${at}.xml.gz</loc><lastmod>${date}</lastmod></sitemap>`).join("")}
      <sitemap><loc>http://elsewhere.example/s.xml</loc></sitemap></sitemapindex>`,
  });
  const sitemap = (...names: string[]): Route => ({
    headers: { "content-type": "application/gzip" },
    body: gzipSync(
      `<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml">${names
        .map(
          (name) =>
            `<url><loc>${site.origin}/p/${name}</loc><xhtml:link rel="alternate" hreflang="de" href="${site.origin}/p/de"/></url>`,
        )
        .join("")}</urlset>`,
    ),
  });
  site.route({
    "/sitemap.xml": index("2026-01-01", "2026-01-01"),
    "/s0.xml.gz": sitemap("a"),
    "/s1.xml.gz": sitemap("b"),
  });
  const source = await monitor(`${site.origin}/sitemap.xml`, "sitemap", { exclude: ["/p/d$"] });
  const first = await run(source);
  expect(first).toMatchObject({ list: { documents_read: 3, entries: 2, taken: 2 } });
  expect(first.list.notes).toMatchObject([{ code: "WRONG_HOST", count: 1 }]);
  expect(asked(site)).toEqual(["/p/a", "/p/b"]);

  site.route({ "/sitemap.xml": index("2026-01-01", "2026-02-01"), "/s1.xml.gz": sitemap("b", "c", "d") });
  expect(await run(source)).toMatchObject({
    list: { documents_read: 2, documents_unchanged: 1, entries: 2, taken: 1 },
  });
  expect(site.requests.map(({ path }) => path)).not.toContain("/s0.xml.gz");
  expect(asked(site)).toEqual(["/p/c"]);
});

it("a list that cannot be read ends its run with why, and the next one begins anew", async () => {
  await using site = await startSite({ "/robots.txt": robots, ...pages, "/feed": html("<html><p>Moved</p></html>") });
  const source = await monitor(`${site.origin}/feed`, "feed");
  expect(await run(source)).toMatchObject({
    status: "failed",
    error: "HTML_INSTEAD: It is an HTML page, no feed or sitemap",
  });
  site.route({ "/feed": rss(item("/p/a")) });
  expect(await run(source)).toMatchObject({ status: "completed", counts: { crawled: 1 } });
});

it("a run whose list is being read is the only one, and can be cancelled", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using site = await startSite({
    "/robots.txt": robots,
    ...pages,
    "/feed": { ...rss(item("/p/a")), after: promise },
  });
  const source = await monitor(`${site.origin}/feed`, "feed");
  const { job_id } = await instance.call<{ job_id: string }>("POST", `/api/v1/sources/${source}/trigger`);
  await expect.poll(() => site.paths()).toEqual(["/feed"]);
  await expect(instance.call("POST", `/api/v1/sources/${source}/trigger`)).rejects.toThrow(/RUN_UNFINISHED/);
  await instance.call("POST", `/api/v1/crawl/${job_id}/cancel`);
  const { runs } = await instance.call<{ runs: Run[] }>("GET", `/api/v1/sources/${source}`);
  expect(runs).toMatchObject([{ status: "cancelled" }]);
  resolve();
  expect(await run(source)).toMatchObject({ status: "completed", counts: { crawled: 1 } });
  expect(asked(site)).toEqual(["/p/a"]);
});
