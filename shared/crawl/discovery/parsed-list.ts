/** What a list of pages is read to, whatever its format. */

export type ListKind = "sitemap" | "index" | "feed" | "text" | "html" | "unknown" | "empty";

export interface ListEntry {
  /** As it stands in the list, without surrounding space; null where the entry has none. */
  url: string | null;
  /** What a relative `url` is relative to, where the list says so itself. */
  base: URL | undefined;
  /** W3C datetime; null where there is none, or a bad one. */
  lastmod: string | null;
  badLastmod: boolean;
  /** The date as it stands in the list. */
  dated: string | null;
  /** What a feed calls it: guid or id. */
  id: string | null;
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
  readonly done: boolean;
}

export interface ParsedList {
  kind: ListKind;
  /** Name of the root element where `kind` is unknown. */
  root: string | undefined;
  /** The root element was closed; true for text. */
  complete: boolean;
}
