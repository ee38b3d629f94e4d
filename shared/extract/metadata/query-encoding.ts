/**
 * Writes the queries of a page's links in the encoding of the page, as browsers send them (WHATWG URL, "query state",
 * and Encoding, "percent-encode after encoding"): servers of such pages look for the bytes of their own encoding.
 */
import type { Page } from "../parse/page-tree.ts";

/** Changes the links of the page; nothing in UTF-8 or UTF-16, whose queries are in UTF-8. */
export function encodeQueries(page: Page, charset: string): void {
  if (/^(?:UTF-|ISO-2022-JP|x-user-defined|replacement)/i.test(charset)) return;
  page.hrefs = page.hrefs.map((href) => withEncodedQuery(href, charset));
  for (const { attribs } of [...page.anchors, ...page.linkTags]) {
    if (attribs.href !== undefined) attribs.href = withEncodedQuery(attribs.href, charset);
  }
}

/**
 * @example
 * withEncodedQuery("/s?q=größe", "windows-1252") // => "/s?q=gr%F6%DFe"
 */
export function withEncodedQuery(href: string, charset: string): string {
  const start = href.indexOf("?");
  if (start < 0) return href;
  const hash = href.indexOf("#", start);
  const [from, to] = hash >= 0 ? [start, hash] : [start, href.length];
  const query = href.slice(from, to);
  if (/^[\0-\x7f]*$/.test(query) || href.lastIndexOf("#", start) >= 0) return href;
  const bytes = bytesOf(charset);
  // what the encoding does not have goes as a character reference
  const encoded = query.replace(/[^\0-\x7f]/gu, (char) => bytes.get(char) ?? `%26%23${char.codePointAt(0)}%3B`);
  return href.slice(0, from) + encoded + href.slice(to);
}

const known = new Map<string, ReadonlyMap<string, string>>();

/** Characters of one and two bytes, with the bytes percent-encoded; nobody has an encoder for these but the decoder. */
function bytesOf(charset: string): ReadonlyMap<string, string> {
  const held = known.get(charset);
  if (held !== undefined) return held;
  const bytes = new Map<string, string>();
  const decoder = new TextDecoder(charset);
  const add = (...sequence: number[]): void => {
    const char = decoder.decode(Uint8Array.from(sequence));
    if ([...char].length !== 1 || char === "\ufffd" || bytes.has(char)) return;
    bytes.set(char, sequence.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""));
  };
  const leads: number[] = [];
  for (let byte = 0x80; byte < 0x100; byte++) {
    if (decoder.decode(Uint8Array.of(byte)) === "\ufffd") leads.push(byte);
    else add(byte);
  }
  for (const lead of leads) {
    // rows that repeat others (Encoding, "index Shift_JIS pointer")
    if (charset === "Shift_JIS" && (lead === 0xed || lead === 0xee)) continue;
    for (let trail = 0x40; trail < 0xff; trail++) add(lead, trail);
  }
  known.set(charset, bytes);
  return bytes;
}
