/**
 * Reads what lists pages for machines: sitemaps and their indexes, text sitemaps, RSS 0.9 to 2.0, Atom. Text comes in pieces cut
 * anywhere, and nothing is kept but the entry at hand, so memory does not grow with the list.
 */
import { Parser } from "htmlparser2";
import { feedDate, w3cDatetime } from "./list-dates.ts";

export type ListKind = "sitemap" | "index" | "feed" | "text" | "html" | "unknown" | "empty";

export interface ListEntry {
  /** As it stands in the list, without surrounding space; null where the entry has none. */
  url: string | null;
  /** W3C datetime; null where there is none, or a bad one. */
  lastmod: string | null;
  badLastmod: boolean;
  title: string | null;
}

export interface ListSink {
  page(entry: ListEntry, kind: ListKind): void;
  /** A sitemap that an index names. */
  sitemap(entry: ListEntry): void;
}

export interface ListParser {
  write(text: string): void;
  /** @param cut the text ends before its end: a last line is not trusted */
  end(cut: boolean): ParsedList;
  /** There is nothing to be had from the rest. */
  readonly over: boolean;
}

export interface ParsedList {
  kind: ListKind;
  /** Name of the root element where `kind` is unknown. */
  root: string | undefined;
  /** The root element was closed; true for text. */
  complete: boolean;
}

export function createListParser(sink: ListSink): ListParser {
  let reader: ListParser | undefined;
  return {
    get over() {
      return reader?.over ?? false;
    },
    write(text) {
      if (reader === undefined) {
        const start = text.trimStart();
        if (start === "") return;
        reader = start.startsWith("<") ? xmlReader(sink) : lineReader(sink);
        reader.write(start);
      } else if (!reader.over) reader.write(text);
    },
    end: (cut) => reader?.end(cut) ?? { kind: "empty", root: undefined, complete: !cut },
  };
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
/** Elements that are entries, with the parents they may have. */
const ENTRIES = new Map<string, readonly string[]>([
  ["url", ["urlset", "sitemapindex"]],
  ["sitemap", ["sitemapindex", "urlset"]],
  ["item", ["channel", "rdf"]],
  ["entry", ["feed"]],
]);

interface OpenEntry {
  name: string;
  prefix: string;
  /** Elements that are open when it is. */
  depth: number;
  /** Text of its fields by name; the first of each counts. */
  fields: Map<string, string>;
}

function xmlReader(sink: ListSink): ListParser {
  let kind: ListKind = "unknown";
  let root: string | undefined;
  let complete = false;
  let over = false;
  let ending = false;
  const open: string[] = [];
  let entry: OpenEntry | undefined;
  /** The field whose text is read. */
  let field: { name: string; text: string } | undefined;

  const give = ({ name, fields }: OpenEntry): void => {
    const read = name === "url" || name === "sitemap" ? sitemapEntry(fields) : feedEntry(fields);
    if (name === "sitemap") sink.sitemap(read);
    else sink.page(read, kind);
  };

  const parser = new Parser(
    {
      onopentag(qualified, attributes) {
        if (over) return;
        const [prefix, name] = splitName(qualified);
        if (root === undefined) {
          root = name;
          kind = ROOTS.get(name) ?? "unknown";
          over = kind === "unknown" || kind === "html";
        }
        if (open.length >= DEEPEST) {
          over = true;
          return;
        }
        if (entry === undefined && ENTRIES.get(name)?.includes(open.at(-1) ?? "")) {
          entry = { name, prefix, depth: open.length, fields: new Map() };
        } else if (entry !== undefined && open.length === entry.depth + 1) {
          const known = prefix === entry.prefix ? name : name === "date" ? "date" : undefined;
          if (known !== undefined && !entry.fields.has(known)) field = { name: known, text: "" };
          if (known !== undefined) noteAttributes(entry, name, attributes);
        }
        open.push(name);
      },
      ontext(text) {
        if (field !== undefined && field.text.length <= LONGEST_FIELD) field.text += text;
      },
      onclosetag(_name, implied) {
        if (over) return;
        open.pop();
        if (entry !== undefined && open.length === entry.depth + 1 && field !== undefined) {
          // what ends without its end may have lost some of it
          if (!implied && field.text.trim() !== "") entry.fields.set(field.name, field.text.trim());
          field = undefined;
        }
        if (entry !== undefined && open.length === entry.depth) {
          if (!implied) give(entry);
          entry = undefined;
        }
        if (open.length === 0) {
          // a root without content closes itself
          complete = !(implied && ending);
          over = true;
        }
      },
    },
    { xmlMode: true },
  );
  return {
    get over() {
      return over;
    },
    write: (text) => parser.write(text),
    end() {
      ending = true;
      if (!over) parser.end();
      return { kind, root, complete };
    },
  };
}

/** Prefix and local name, both in lower case. */
function splitName(qualified: string): [string, string] {
  const name = qualified.toLowerCase();
  const colon = name.indexOf(":");
  return colon < 0 ? ["", name] : [name.slice(0, colon), name.slice(colon + 1)];
}

/** Atom's links are attributes; RSS says of a guid whether it is a link. */
function noteAttributes({ name: entry, fields }: OpenEntry, name: string, attributes: Record<string, string>): void {
  if (entry === "entry" && name === "link") {
    const { rel = "alternate", href } = attributes;
    if (rel === "alternate" && href !== undefined && !fields.has("href")) fields.set("href", href.trim());
  }
  if (name === "guid" && attributes["isPermaLink"] === "false") fields.set("opaque", "guid");
}

function sitemapEntry(fields: ReadonlyMap<string, string>): ListEntry {
  const lastmod = fields.get("lastmod");
  const valid = lastmod === undefined ? null : w3cDatetime(lastmod);
  return {
    url: fields.get("loc") ?? null,
    lastmod: valid,
    badLastmod: lastmod !== undefined && valid === null,
    title: null,
  };
}

function feedEntry(fields: ReadonlyMap<string, string>): ListEntry {
  const guid = fields.has("opaque") ? undefined : fields.get("guid");
  const link =
    fields.get("href") ?? fields.get("link") ?? (guid !== undefined && URL.canParse(guid) ? guid : undefined);
  const dates = ["updated", "published", "pubdate", "date"].flatMap((name) => fields.get(name) ?? []);
  const valid = dates.map(feedDate).find((date) => date !== null) ?? null;
  return {
    url: link ?? null,
    lastmod: valid,
    badLastmod: dates.length > 0 && valid === null,
    title: fields.get("title") ?? null,
  };
}

/** Lines without a URL before the first one: what begins like that is no list. */
const MOST_LEADING_LINES = 20;

function lineReader(sink: ListSink): ListParser {
  let rest = "";
  let urls = 0;
  let others = 0;
  /** The line is too long, and what is left of it is passed over. */
  let skipping = false;
  const take = (line: string): void => {
    const text = line.trim();
    if (text === "" || text.startsWith("#")) return;
    if (/^https?:\/\//i.test(text)) urls += 1;
    else others += 1;
    if (urls > 0) sink.page({ url: text, lastmod: null, badLastmod: false, title: null }, "text");
  };
  return {
    get over() {
      return urls === 0 && others >= MOST_LEADING_LINES;
    },
    write(text) {
      const lines = text.split(/\r\n|\r|\n/);
      const last = lines.pop() ?? "";
      for (const [index, line] of lines.entries()) {
        if (index > 0 || !skipping) take(index === 0 ? rest + line : line);
        if (index === 0) [rest, skipping] = ["", false];
      }
      if (!skipping) rest += last;
      if (rest.length > LONGEST_FIELD) {
        take(rest);
        [rest, skipping] = ["", true];
      }
    },
    end(cut) {
      if (!cut && !skipping) take(rest);
      return { kind: urls > 0 ? "text" : "unknown", root: undefined, complete: true };
    },
  };
}
