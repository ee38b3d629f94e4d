/** Reads JSON Feeds (https://www.jsonfeed.org/version/1.1/). */
import { z } from "zod";
import { feedDate } from "./list-dates.ts";
import type { ListEntry, ListParser, ListSink } from "./parsed-list.ts";

/** Characters; a longer one is not read. */
const LONGEST_FEED = 16 * 1024 * 1024;

const VERSION = /^https?:\/\/(?:www\.)?jsonfeed\.org\/version\//i;
const feedSchema = z.looseObject({ version: z.string().regex(VERSION), items: z.array(z.unknown()) });

const text = z.string().optional().catch(undefined);
const itemSchema = z.looseObject({
  id: z
    .union([z.string(), z.number().transform(String)])
    .optional()
    .catch(undefined),
  url: text,
  external_url: text,
  title: text,
  date_published: text,
  date_modified: text,
});

export function jsonFeedReader(sink: ListSink, document: URL | undefined): ListParser {
  let held = "";
  let tooLong = false;
  return {
    get done() {
      return tooLong;
    },
    write(piece) {
      held += piece;
      if (held.length <= LONGEST_FEED) return;
      tooLong = true;
      held = "";
    },
    end(cut) {
      if (tooLong) return { kind: "feed", root: undefined, complete: false };
      const feed = feedSchema.safeParse(parsed(held));
      // what was cut is no JSON any more, whatever it would have been
      if (!feed.success) return { kind: cut ? "feed" : "unknown", root: undefined, complete: false };
      for (const item of feed.data.items) sink.page(entryOf(item, document), "feed");
      return { kind: "feed", root: undefined, complete: true };
    },
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function entryOf(item: unknown, base: URL | undefined): ListEntry {
  const read = itemSchema.safeParse(item);
  const { id, url, external_url, title, date_modified, date_published } = read.success ? read.data : {};
  const dates = [date_modified, date_published].filter((date) => date !== undefined);
  const lastmod = dates.map(feedDate).find((date) => date !== null) ?? null;
  const named = id !== undefined && /^https?:\/\//i.test(id) ? id : undefined;
  return {
    url: url ?? named ?? external_url ?? null,
    base,
    lastmod,
    badLastmod: dates.length > 0 && lastmod === null,
    dated: dates[0] ?? null,
    id: id ?? null,
    title: title ?? null,
  };
}
