/** What a WACZ file's lists of pages say of its captures: titles and texts, as a browser had them. */
import type { Capture } from "../../capture/capture.ts";
import { extractPlainText } from "../../extract/extract-page.ts";
import type { ListedEntry } from "../wacz-file/read-package.ts";
import { type RangeReader, shown } from "../wacz-file/zip-directory.ts";
import { EntryFault, entryBytes } from "../wacz-file/zip-entry.ts";

interface ListedPage {
  /** Epoch ms; of when the page was opened. */
  time: number;
  title: string | null;
  text: string | null;
}

export interface PageListFault {
  code: "PAGES_LEFT_OUT";
  message: string;
  offset: number;
}

/** Characters of the texts that are held at once, and pages. */
const MOST_CHARS = 32_000_000;
const MOST_PAGES = 200_000;
const MOST_OF_URL = 1000;
const LONGEST_LINE = 16 * 1024 * 1024;
/** Pages are opened some time before their answer is there, and lists may know no more than the day. */
const NEAR_MS = 86_400_000;
/** What pages have more of is not searched either. */
const LONGEST_TEXT = 5_000_000;

export class PageTexts {
  readonly #pages = new Map<string, ListedPage[]>();
  #chars = 0;
  #count = 0;
  #left = 0;

  /** Reads the lists, and says what of them is left out. */
  async read(read: RangeReader, lists: readonly ListedEntry[]): Promise<PageListFault[]> {
    const faults: PageListFault[] = [];
    for (const list of lists) {
      const left = (why: string) =>
        faults.push({ code: "PAGES_LEFT_OUT", message: `${shown(list.name)}: ${why}`, offset: list.headerOffset });
      this.#left = 0;
      let unread = 0;
      try {
        for await (const line of linesOf(entryBytes(read, list))) if (!this.#add(line)) unread += 1;
      } catch (error) {
        if (!(error instanceof EntryFault)) throw error;
        left(`the rest of the list cannot be read: ${error.message}`);
      }
      if (unread > 0) left(`${unread} lines describe no page`);
      if (this.#left > 0)
        left(`${this.#left} pages are more than are held: they have the text of their captures alone`);
    }
    return faults;
  }

  /** Gives a page's capture the title and the text that extraction did not find. */
  complete(capture: Capture): Capture {
    const { extraction, finalUrl, fetchedAt, status } = capture;
    const hasText = (extraction?.text.trim() ?? "") !== "";
    if (status < 200 || status > 299 || (hasText && extraction?.title)) return capture;
    const page = this.#nearest(finalUrl, Date.parse(fetchedAt));
    if (page === undefined) return capture;
    const title = extraction?.title || page.title;
    if (hasText) return { ...capture, extraction: extraction && { ...extraction, title } };
    if (page.text === null) return capture;
    const found = extractPlainText(page.text.slice(0, LONGEST_TEXT));
    const { text, markdown, sections, blocks, language } = found;
    const own = extraction && { ...extraction, text, markdown, sections, blocks, language };
    return { ...capture, error: null, extraction: { ...(own ?? found), title: title ?? found.title } };
  }

  #nearest(url: string, time: number): ListedPage | undefined {
    const near = (this.#pages.get(url) ?? []).filter((page) => Math.abs(page.time - time) <= NEAR_MS);
    return near.toSorted((one, other) => Math.abs(one.time - time) - Math.abs(other.time - time))[0];
  }

  /** @returns whether the line is one of a list of pages */
  #add(line: string): boolean {
    if (line.trim() === "") return true;
    const page = objectOf(line);
    if (page === undefined) return false;
    const { url, ts, title, text, format } = page;
    // the first line describes the list
    if (typeof format === "string" && url === undefined) return true;
    const time = Date.parse(typeof ts === "string" ? ts : "");
    if (typeof url !== "string" || !URL.canParse(url) || Number.isNaN(time)) return false;
    const kept = typeof text === "string" && text.trim() !== "" ? text : null;
    const key = new URL(url);
    key.hash = "";
    const ofUrl = this.#pages.get(key.href) ?? [];
    this.#count += 1;
    this.#chars += kept?.length ?? 0;
    if (this.#count > MOST_PAGES || this.#chars > MOST_CHARS || ofUrl.length >= MOST_OF_URL) {
      this.#left += 1;
      return true;
    }
    ofUrl.push({ time, title: typeof title === "string" && title.trim() !== "" ? title.trim() : null, text: kept });
    this.#pages.set(key.href, ofUrl);
    return true;
  }
}

function objectOf(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // it is counted, and told
    return undefined;
  }
}

/** A line that is longer than any page is given as one that describes none. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  const line = () => {
    const whole = length > LONGEST_LINE ? "x" : Buffer.concat(parts).toString("utf8");
    parts = [];
    length = 0;
    return whole;
  };
  for await (const chunk of chunks) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      parts.push(rest.subarray(0, end));
      length += end;
      yield line();
      rest = rest.subarray(end + 1);
    }
    length += rest.length;
    if (length <= LONGEST_LINE) parts.push(Buffer.from(rest));
  }
  if (length > 0) yield line();
}
