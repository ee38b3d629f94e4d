/**
 * Reads what lists pages for machines: sitemaps and their indexes, text sitemaps, RSS 0.9 to 2.0, Atom, JSON Feed. Text
 * comes in pieces cut anywhere, and nothing is kept but the entry at hand, so memory does not grow with the list; only
 * of JSON the whole is kept, up to a bound.
 */
import { Parser } from "htmlparser2";
import { jsonFeedReader } from "./json-feed.ts";
import { feedDate, w3cDatetime } from "./list-dates.ts";
import type { ListEntry, ListKind, ListParser, ListSink } from "./parsed-list.ts";
import { lineReader } from "./text-list.ts";
import { createXmlProlog } from "./xml-prolog.ts";
import { createXmlScopes } from "./xml-scopes.ts";

/** @param document address of the list, for what it says relative to that */
export function createListParser(sink: ListSink, document?: URL): ListParser {
  let reader: ListParser | undefined;
  return {
    get done() {
      return reader?.done ?? false;
    },
    write(text) {
      if (reader === undefined) {
        const start = withoutPreface(text);
        if (start === "") return;
        reader = readerOf(start, sink, document);
        reader.write(start);
      } else if (!reader.done) reader.write(text);
    },
    end: (cut) => reader?.end(cut) ?? { kind: "empty", root: undefined, complete: !cut },
  };
}

function readerOf(start: string, sink: ListSink, document: URL | undefined): ListParser {
  if (start.startsWith("<")) return xmlReader(sink, document);
  return start.startsWith("{") ? jsonFeedReader(sink, document) : lineReader(sink);
}

const XML_START = /<(?:\?xml\s|rss[\s>]|feed[\s>]|rdf:RDF[\s>]|urlset[\s>]|sitemapindex[\s>])/;
/** Of what a broken server writes before the document: warnings, mostly. */
const LONGEST_PREFACE = 4096;

function withoutPreface(text: string): string {
  const start = text.trimStart();
  if (/^[<{]|^https?:/i.test(start)) return start;
  const at = start.slice(0, LONGEST_PREFACE).search(XML_START);
  return at < 0 ? start : start.slice(at);
}

/** Longer text is not kept: no URL, date or title is as long. */
const LONGEST_FIELD = 4096;
/** Elements within each other; more are an attack. */
const DEEPEST = 64;

const ROOTS = new Map<string, ListKind>([
  ["urlset", "sitemap"],
  ["sitemapindex", "index"],
  ["rss", "feed"],
  ["rdf", "feed"],
  ["feed", "feed"],
  ["html", "html"],
]);
/** Elements that are entries, with the parents they may have; one of their kind where its end is missing. */
const ENTRIES = new Map<string, readonly string[]>([
  ["url", ["urlset", "sitemapindex", "url"]],
  ["sitemap", ["sitemapindex", "urlset", "sitemap"]],
  ["item", ["channel", "rdf", "item"]],
  ["entry", ["feed", "entry"]],
]);

interface OpenEntry {
  name: string;
  namespace: string;
  /** Elements that are open when it is. */
  depth: number;
  /** Text of its fields by name; the first of each counts. */
  fields: Map<string, string>;
  /** Base of its link, or else its own. */
  base: URL | undefined;
}

function xmlReader(sink: ListSink, document: URL | undefined): ListParser {
  let kind: ListKind = "unknown";
  let root: string | undefined;
  let complete = false;
  let done = false;
  let ending = false;
  const open: string[] = [];
  let entry: OpenEntry | undefined;
  /** The field whose text is read. */
  let field: { name: string; text: string } | undefined;

  const scopes = createXmlScopes(document);
  const prolog = createXmlProlog();

  const give = ({ name, fields, base }: OpenEntry): void => {
    const read = { ...(name === "url" || name === "sitemap" ? sitemapEntry(fields) : feedEntry(fields)), base };
    if (name === "sitemap") sink.sitemap(read);
    else sink.page(read, kind);
  };

  const parser = new Parser(
    {
      onopentag(qualified, attributes) {
        if (done) return;
        const { name, namespace, base } = scopes.enter(qualified, attributes);
        if (root === undefined) {
          root = name;
          kind = ROOTS.get(name) ?? "unknown";
          done = kind === "unknown" || kind === "html";
        }
        if (open.length >= DEEPEST) {
          done = true;
          return;
        }
        const within = entry !== undefined && open.length === entry.depth + 1 ? entry : undefined;
        // an entry directly in one of its kind: that one was never ended
        const unended = within?.name === name && within.namespace === namespace;
        if (unended) give(within);
        if (unended || (entry === undefined && ENTRIES.get(name)?.includes(open.at(-1) ?? ""))) {
          entry = { name, namespace, depth: open.length, fields: new Map(), base };
        } else if (within !== undefined) {
          const known = namespace === within.namespace ? name : name === "date" ? "date" : undefined;
          if (known !== undefined && !within.fields.has(known)) field = { name: known, text: "" };
          if (known !== undefined) noteAttributes(within, name, attributes, base);
        }
        open.push(name);
      },
      ontext(text) {
        if (field !== undefined && field.text.length <= LONGEST_FIELD) field.text += text;
      },
      onclosetag(_name, implied) {
        if (done) return;
        open.pop();
        scopes.leave();
        if (entry !== undefined && open.length === entry.depth + 1 && field !== undefined) {
          // what ends without its end may have lost some of it
          if (!implied && field.text.trim() !== "") entry.fields.set(field.name, field.text.trim());
          field = undefined;
        }
        if (entry !== undefined && open.length === entry.depth) {
          if (!implied || !ending) give(entry);
          entry = undefined;
        }
        if (open.length === 0) {
          // a root without content closes itself
          complete = !(implied && ending);
          done = true;
        }
      },
    },
    { xmlMode: true },
  );
  return {
    get done() {
      return done;
    },
    write: (text) => parser.write(prolog.write(text)),
    end() {
      if (!done) parser.write(prolog.end());
      ending = true;
      if (!done) parser.end();
      return { kind, root, complete };
    },
  };
}

/** Atom's links are attributes; RSS says of a guid whether it is a link. */
function noteAttributes(
  entry: OpenEntry,
  name: string,
  attributes: Record<string, string>,
  base: URL | undefined,
): void {
  const { fields } = entry;
  if (name === "link" && !fields.has("link")) entry.base = base;
  if (entry.name === "entry" && name === "link") {
    const { rel = "alternate", href } = attributes;
    if (rel === "alternate" && href !== undefined && !fields.has("href")) {
      fields.set("href", href.trim());
      entry.base = base;
    }
  }
  if (name === "guid" && attributes["isPermaLink"] === "false") fields.set("opaque", "guid");
}

function sitemapEntry(fields: ReadonlyMap<string, string>): Omit<ListEntry, "base"> {
  const lastmod = fields.get("lastmod");
  const valid = lastmod === undefined ? null : w3cDatetime(lastmod);
  return {
    url: fields.get("loc") ?? null,
    lastmod: valid,
    badLastmod: lastmod !== undefined && valid === null,
    dated: lastmod ?? null,
    id: null,
    title: null,
  };
}

function feedEntry(fields: ReadonlyMap<string, string>): Omit<ListEntry, "base"> {
  const guid = fields.has("opaque") ? undefined : fields.get("guid");
  const link =
    fields.get("href") ?? fields.get("link") ?? (guid !== undefined && URL.canParse(guid) ? guid : undefined);
  const dates = ["updated", "published", "pubdate", "date"].flatMap((name) => fields.get(name) ?? []);
  const valid = dates.map(feedDate).find((date) => date !== null) ?? null;
  return {
    url: link ?? null,
    lastmod: valid,
    badLastmod: dates.length > 0 && valid === null,
    dated: dates[0] ?? null,
    id: fields.get("guid") ?? fields.get("id") ?? null,
    title: fields.get("title") ?? null,
  };
}
