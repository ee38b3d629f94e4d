/** Lists as tests write them, and what the reader makes of them. */

import { type ReadList, readList } from "../../../../shared/crawl/discovery/list-reader.ts";
import type { ListEntry, ListKind } from "../../../../shared/crawl/discovery/parsed-list.ts";
import type { HttpResponse } from "../../../../shared/crawl/http/exchange.ts";

export interface Seen extends ReadList {
  pages: (ListEntry & { as: ListKind })[];
  sitemaps: ListEntry[];
}

export async function readBytes(
  body: string | Uint8Array,
  headers: [string, string][] = [],
  truncated: HttpResponse["truncated"] = null,
): Promise<Seen> {
  const pages: Seen["pages"] = [];
  const sitemaps: ListEntry[] = [];
  const response = { status: 200, startLine: "HTTP/1.1 200 OK", headers, body: Buffer.from(body), truncated };
  const read = await readList(response, {
    page: (entry, as) => pages.push({ ...entry, as }),
    sitemap: (entry) => sitemaps.push(entry),
  });
  return { ...read, pages, sitemaps };
}

export const urlset = (...entries: string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join("\n")}</urlset>`;

export const entry = (loc: string, lastmod?: string): string =>
  `<url><loc>${loc}</loc>${lastmod === undefined ? "" : `<lastmod>${lastmod}</lastmod>`}</url>`;
