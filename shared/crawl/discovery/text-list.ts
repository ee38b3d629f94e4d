/** Reads text sitemaps: a URL a line. */
import type { ListParser, ListSink } from "./parsed-list.ts";

/** A longer line is cut: no URL is as long. */
const LONGEST_LINE = 4096;
/** Lines without a URL before the first one: what begins like that is no list. */
const MOST_LEADING_LINES = 20;

const UNDATED = { base: undefined, lastmod: null, badLastmod: false, dated: null, id: null, title: null };

export function lineReader(sink: ListSink): ListParser {
  let rest = "";
  let urls = 0;
  let others = 0;
  /** The line is too long, and what is left of it is skipped. */
  let skipping = false;
  const take = (line: string): void => {
    const text = line.trim();
    if (text === "" || text.startsWith("#")) return;
    if (/^https?:\/\//i.test(text)) urls += 1;
    else others += 1;
    if (urls > 0) sink.page({ ...UNDATED, url: text }, "text");
  };
  return {
    get done() {
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
      if (rest.length > LONGEST_LINE) {
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
