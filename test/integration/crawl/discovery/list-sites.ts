/** Sites that have lists of their URLs. */
import { type Route, type Site, startSite } from "../../../sites/site.ts";
import { entry, urlset } from "../../../unit/crawl/discovery/lists.ts";
import type { Found } from "./harness.ts";

export const xml = (body: string | Uint8Array): Route => ({ headers: { "Content-Type": "application/xml" }, body });
export const robots = (...lines: string[]): Route => ({
  headers: { "Content-Type": "text/plain" },
  body: lines.join("\n"),
});
export const pathsOf = ({ urls }: Found): string[] =>
  urls.map(({ url }) => new URL(url).pathname + new URL(url).search);
export const sitemapOf = (site: Site, ...paths: string[]): Route =>
  xml(urlset(...paths.map((path) => entry(site.origin + path))));

/** Their routes need the site's own address. */
export async function siteWith(routes: (site: Site) => Record<string, Route>): Promise<Site> {
  const site = await startSite();
  site.route(routes(site));
  return site;
}
