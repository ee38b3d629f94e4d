/** The feeds and sitemaps that a home page names in its head. */
import { Parser } from "htmlparser2";
import { type HttpResponse, headerValue } from "../http/exchange.ts";
import { parseMediaType } from "../http/media-type.ts";
import { decoded } from "./list-text.ts";
import { ListCut, unpacked } from "./unpack.ts";

/** A head that is longer is not read to its end. */
const MAX_HEAD_BYTES = 1024 * 1024;
const MOST_LINKS = 20;
const FEED_TYPE = /^application\/(rss|atom|rdf)\+xml$/i;

/** @returns absolute URLs in document order, each once */
export async function linkedLists({ body, headers }: HttpResponse, base: URL): Promise<URL[]> {
  const found = new Map<string, URL>();
  let done = false;
  let from = base;
  const parser = new Parser({
    onopentag(name, { rel = "", type = "", href }) {
      if (name === "body") done = true;
      if (href === undefined || done) return;
      if (name === "base") from = URL.parse(href, base.href) ?? base;
      if (name !== "link") return;
      const rels = rel.toLowerCase().split(/\s+/);
      const wanted = rels.includes("sitemap") || (rels.includes("alternate") && FEED_TYPE.test(type.trim()));
      const url = wanted ? URL.parse(href, from.href) : null;
      if (url !== null && found.size < MOST_LINKS) found.set(url.href, url);
    },
  });
  const { charset } = parseMediaType(headerValue(headers, "content-type"));
  const coding = headerValue(headers, "content-encoding");
  try {
    for await (const text of decoded(unpacked(body, coding, MAX_HEAD_BYTES), charset)) {
      parser.write(text);
      if (done) break;
    }
  } catch (error) {
    // what was read of the head counts
    if (!(error instanceof ListCut)) throw error;
  }
  return [...found.values()];
}
