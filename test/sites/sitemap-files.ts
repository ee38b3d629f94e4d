/** Sitemaps and feeds of a site, in all the forms that they come in. */
import { gzipSync } from "node:zlib";
import type { Route } from "./site.ts";

const XML = { "Content-Type": "application/xml" };
const BOM = "\ufeff";

const entry = (url: string, lastmod?: string): string =>
  `<url><loc>${url}</loc>${lastmod === undefined ? "" : `<lastmod>${lastmod}</lastmod>`}</url>`;

const urlset = (entries: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join("")}</urlset>`;

/** @param elsewhere origin of another host, whose entries are not this site's to give */
export function sitemapRoutes(origin: string, elsewhere: string, pages: number): Record<string, Route> {
  const urls = Array.from({ length: pages }, (_, page) => `${origin}/page/${page}`);
  const quarter = Math.ceil(pages / 4);
  const part = (at: number): string[] => urls.slice(at * quarter, (at + 1) * quarter);
  const files = [
    "sitemap-a.xml.gz",
    "sitemap-b",
    "sitemap-c.txt",
    "sitemap-d.xml",
    "sitemap-faulty.xml",
    "sitemap-gone.xml",
  ];
  const index = `<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${files
    .map((file) => `<sitemap><loc>${origin}/${file}</loc><lastmod>2024-05-01</lastmod></sitemap>`)
    .join("")}</sitemapindex>`;
  const dated = part(0).map((url) => entry(url, "2024-03-01T10:00:00+00:00"));
  const items = urls.slice(0, 3);
  return {
    "/sitemap.xml": { headers: XML, body: index },
    "/sitemap-a.xml.gz": { headers: { "Content-Type": "application/gzip" }, body: gzipSync(urlset(dated)) },
    // compressed, though neither its name nor its headers say so
    "/sitemap-b": {
      headers: { "Content-Type": "text/xml" },
      body: gzipSync(BOM + urlset(part(1).map((url) => entry(url)))),
    },
    "/sitemap-c.txt": { headers: { "Content-Type": "text/plain" }, body: `${BOM}${part(2).join("\r\n")}\r\n` },
    "/sitemap-d.xml": { headers: XML, body: BOM + urlset(part(3).map((url) => entry(url))) },
    "/sitemap-faulty.xml": {
      headers: XML,
      body: urlset([entry(`${elsewhere}/page/1`), entry("not a url"), entry(`${origin}/page/0`, "yesterday")]).slice(
        0,
        -4,
      ),
    },
    "/feed.rss": {
      headers: { "Content-Type": "application/rss+xml" },
      body: `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>${items
        .map((url) => `<item><link>${url}</link><pubDate>Fri, 01 Mar 2024 10:00:00 GMT</pubDate></item>`)
        .join("")}</channel></rss>`,
    },
    "/feed.atom": {
      headers: { "Content-Type": "application/atom+xml" },
      body: `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">${items
        .map((url) => `<entry><link href="${url}"/><updated>2024-03-01T10:00:00Z</updated></entry>`)
        .join("")}</feed>`,
    },
  };
}
