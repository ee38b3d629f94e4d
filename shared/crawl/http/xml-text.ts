/** The text of an XML document that is no XHTML: tags, comments and instructions gone, entities decoded. */
import { decodeXML } from "entities";

/** Linear in the length of `xml`, whatever is unclosed in it. */
export function xmlText(xml: string): string {
  const parts: string[] = [];
  let at = 0;
  while (at < xml.length) {
    const open = xml.indexOf("<", at);
    const end = open < 0 ? xml.length : open;
    parts.push(decodeXML(xml.slice(at, end)));
    if (open < 0) break;
    if (xml.startsWith("<![CDATA[", open)) {
      const close = endOf(xml, "]]>", open + 9);
      parts.push(xml.slice(open + 9, close === xml.length ? close : close - 3));
      at = close;
    } else {
      at = endOf(xml, xml.startsWith("<!--", open) ? "-->" : xml.startsWith("<?", open) ? "?>" : ">", open);
      parts.push("\n");
    }
  }
  // no regular expression: a run of spaces may be as long as the document
  const lines = parts.join("").split("\n");
  return lines.flatMap((line) => line.trim() || []).join("\n");
}

const ROOT = /^\s*(?:<[?!][^>]{0,1024}>[^<]{0,256}){0,8}<(?:[A-Za-z][\w-]{0,31}:)?(?<name>[A-Za-z][\w-]{0,31})[\s/>]/;

/** Whether the root element is XHTML's. */
export function isXhtml(xml: string): boolean {
  return rootOf(xml) === "html";
}

const LISTS: Record<string, string> = {
  urlset: "a sitemap",
  sitemapindex: "a sitemap index",
  rss: "an RSS feed",
  rdf: "an RDF feed",
  feed: "an Atom feed",
};

/**
 * What a document is that lists pages for machines instead of being one, by its root element; undefined for all others.
 */
export function listOfPages(markup: string): string | undefined {
  const root = rootOf(markup);
  return root !== undefined && Object.hasOwn(LISTS, root) ? LISTS[root] : undefined;
}

/** Local name of the root element, in lower case. */
function rootOf(markup: string): string | undefined {
  return ROOT.exec(markup.slice(0, 8192))?.groups?.["name"]?.toLowerCase();
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}
