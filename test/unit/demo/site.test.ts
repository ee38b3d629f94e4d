import { load } from "cheerio/slim";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SiteServer, sitePaths, startSiteServer } from "../../../demo/site-server.ts";

let site: SiteServer;
beforeAll(async () => {
  site = await startSiteServer();
});
afterAll(() => site.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${site.origin}${path}`, { headers, redirect: "manual" });

/** Paths on this site that a page links to, resolved against its `<base href>`. */
async function linksOf(path: string): Promise<string[]> {
  const $ = load(await (await get(path)).text());
  const base = new URL($("base[href]").attr("href") ?? "", `${site.origin}${path}`);
  return $("a[href]")
    .toArray()
    .map(({ attribs }) => new URL(attribs["href"] ?? "", base))
    .filter((url) => url.origin === site.origin)
    .map((url) => url.pathname);
}

test("every page but the drafts is reached by links from the start page", async () => {
  const seen = new Set(["/"]);
  const queue = ["/"];
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const response = await get(path);
    if (response.status !== 200 || !response.headers.get("content-type")?.startsWith("text/html")) continue;
    for (const link of await linksOf(path)) {
      if (seen.has(link) || link.startsWith("/drafts/")) continue;
      seen.add(link);
      queue.push(link);
    }
  }
  const pages = (await sitePaths()).filter((path) => !path.startsWith("/drafts/"));
  expect(pages.length).toBeGreaterThanOrEqual(40);
  expect(pages.filter((path) => !seen.has(path))).toEqual([]);
});

test("exactly one link is broken, and on purpose", async () => {
  const broken = new Set<string>();
  for (const page of await sitePaths()) {
    for (const link of await linksOf(page)) if ((await get(link)).status === 404) broken.add(link);
  }
  expect([...broken]).toEqual(["/guide/upgrading.html"]);
});

test("each article page has one title, one description and one first-level heading, within the site's frame", async () => {
  for (const page of await sitePaths()) {
    const $ = load(await (await get(page)).text());
    const count = (selector: string) => $(selector).length;
    expect([page, count("title"), count("h1"), count("meta[name=description]")]).toEqual([page, 1, 1, 1]);
    expect([page, count("header"), count("footer, .site-footer") <= 1]).toEqual([page, 1, true]);
  }
});

test("a page that has not changed is answered with 304 by either validator", async () => {
  const first = await get("/faq.html");
  const etag = first.headers.get("etag") ?? "";
  const modified = first.headers.get("last-modified") ?? "";
  expect((await get("/faq.html", { "if-none-match": etag })).status).toBe(304);
  expect((await get("/faq.html", { "if-modified-since": modified })).status).toBe(304);
  expect((await get("/faq.html", { "if-none-match": '"other"', "if-modified-since": modified })).status).toBe(200);
});

test("the old address of a page redirects to the new one", async () => {
  const response = await get("/concepts/robots-txt.html");
  expect([response.status, response.headers.get("location")]).toEqual([301, "/concepts/robots.html"]);
});

test("robots.txt forbids the drafts and names the site map, which lists every other page", async () => {
  const robots = await (await get("/robots.txt")).text();
  expect(robots).toContain("Disallow: /drafts/");
  expect(robots).toContain(`Sitemap: ${site.origin}/sitemap.xml`);
  const locations = [...(await (await get("/sitemap.xml")).text()).matchAll(/<loc>(.*?)<\/loc>/g)].map(
    (match) => match[1],
  );
  const pages = (await sitePaths()).filter((path) => !path.startsWith("/drafts/"));
  expect(locations).toEqual(pages.map((path) => `${site.origin}${path}`));
});

test("one page really is in ISO-8859-1", async () => {
  const response = await get("/words/strandlines-of-europe.html");
  expect(response.headers.get("content-type")).toBe("text/html");
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(bytes.toString("utf8")).toContain("�");
  expect(bytes.toString("latin1")).toContain("Spülsaum");
});

test.each(["/../demo.ts", "/%2e%2e/demo.ts", "/%00", "/%zz", "/layout.html", "/nothing.html"])(
  "there is nothing at %s",
  async (path) => {
    expect((await get(path)).status).toBe(404);
  },
);
