/**
 * XSLT style sheets of replayed documents. Browsers load them from the same origin only, which replayed documents have
 * none of: they stand in the document that names them.
 */
import { isMissingFromArchive } from "../../crawl/results/archived-content.ts";
import { nearestCaptures } from "./nearest.ts";
import { type Archive, type Payload, readPayload } from "./payload.ts";
import type { ReplayContext } from "./rewrite/replay-url.ts";
import { rewriteMarkup, type StyleSheets, unescaped } from "./rewrite/rewrite-html.ts";
import { timeOf } from "./timestamp.ts";

/** Sheets that name each other; more are a circle, or no page that somebody wrote. */
const DEEPEST = 4;
const MOST_SHEETS = 20;
const LONGEST_SHEET = 2 * 1024 * 1024;

const INSTRUCTION = /<\?xml-stylesheet\s[^>]*?\bhref\s*=\s*(["'])(.*?)\1[^>]*\?>/gs;
const INCLUDE = /<(?:[\w-]+:)?(?:include|import)\s[^>]*?\bhref\s*=\s*(["'])(.*?)\1/gs;
/** Of an instruction; an XML type means XSLT, as browsers have it. */
export const XSLT_TYPE = /\btype\s*=\s*["']\s*(?:text\/xsl|text\/xml|application\/xml|application\/xslt\+xml)\s*["']/i;

export interface SheetOptions {
  /** What goes before whatever the pages that a sheet makes hold. */
  head: string;
  /** What the answer says. */
  textOf(payload: Payload): string;
}

/**
 * Those that a document names by instruction, and those that they include.
 * @returns as far as they are archived
 */
export async function styleSheets(
  archive: Archive,
  context: ReplayContext,
  document: string,
  options: SheetOptions,
): Promise<StyleSheets> {
  const found = new Map<string, string>();
  for (const [instruction, , reference = ""] of document.matchAll(INSTRUCTION)) {
    if (!XSLT_TYPE.test(instruction)) continue;
    await addSheet(archive, reference, context.url, { ...options, context, found, depth: 0 });
  }
  return { base: context.url, found };
}

interface Search extends SheetOptions {
  /** Of the document, against whose URL whatever a sheet writes is resolved. */
  context: ReplayContext;
  found: Map<string, string>;
  depth: number;
}

async function addSheet(archive: Archive, reference: string, base: string, search: Search): Promise<void> {
  const { context, found, depth, head, textOf } = search;
  const url = URL.parse(unescaped(reference), base);
  if (url === null || !/^https?:$/.test(url.protocol)) return;
  url.hash = "";
  if (found.has(url.href) || found.size >= MOST_SHEETS || depth >= DEEPEST) return;
  const payload = await sheetAt(archive, url.href, timeOf(context.timestamp) ?? new Date());
  if (payload === undefined || payload.body.length > LONGEST_SHEET) return;
  const text = textOf(payload);
  for (const [, , inner = ""] of text.matchAll(INCLUDE)) {
    await addSheet(archive, inner, url.href, { ...search, depth: depth + 1 });
  }
  const sheets = { base: url.href, found };
  const markup = rewriteMarkup(text, { ...context, kind: "xslt", head, charset: null, sheets });
  const bytes = Buffer.from(markup.text(() => true)).toString("base64");
  found.set(url.href, `data:text/xsl;charset=utf-8;base64,${bytes}`);
}

async function sheetAt(archive: Archive, url: string, at: Date): Promise<Payload | undefined> {
  for (const { id, direct } of await nearestCaptures(archive.sql, url, at, { limit: DEEPEST })) {
    const payload = await readPayload(archive, id).catch((error: unknown) => {
      if (!isMissingFromArchive(error)) throw error;
      return undefined;
    });
    if (payload?.status === 200 && (direct || payload.mimeType !== "text/html")) return payload;
  }
  return undefined;
}
