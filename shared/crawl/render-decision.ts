/**
 * Whether a page must be opened in a browser to be read, told from its HTML alone. Nearly free: a few searches over the text,
 * and the main content that has been extracted anyway.
 *
 * A page that has its text is never rendered, whatever else it holds: server-side rendering with hydration has both an
 * application's root and the text.
 */
import type { Extraction } from "../extract/extraction.ts";
import type { CrawlConfig } from "./crawl-config.ts";

/** Characters of main content from which on a page has its text: a paragraph and its heading. */
const ENOUGH_TEXT = 500;
/** Where the page itself says that it needs scripts, or where its application's root is empty, this much may be a cookie notice. */
const ENOUGH_TEXT_OF_A_SHELL = 1_500;
/** Text to markup of pages that are all markup: below it, a long page with hardly any text is an application. */
const SHELL_SHARE = 0.01;
const LONG_MARKUP = 20_000;
/** Only so much of a page is searched for signs; shells are small. */
const SEARCHED_CHARS = 300_000;

/** Ids and elements that the common frameworks mount into. */
const ROOT_NAMES =
  "root|app|__next|__nuxt|___gatsby|svelte|q-app|main-app|react-root|app-root|application|ember-app|mount";
/** With nothing inside, or only what says that something loads. */
const EMPTY_ROOT = new RegExp(
  `<(div|main|section)\\b[^<>]{0,300}\\bid\\s*=\\s*["']?(?:${ROOT_NAMES})["'\\s>][^<>]{0,300}>(?:\\s|<!--[^>]{0,200}-->){0,50}</\\1>|` +
    `<(app-root|app-main|my-app|ng-app|router-outlet)\\b[^<>]{0,300}>[^<>]{0,100}</\\2>`,
  "i",
);
const EMPTY_ROOT_OF_UNQUOTED = new RegExp(`<(div|main)\\s+id=(?:${ROOT_NAMES})>\\s{0,50}</\\1>`, "i");
const LOADING_ROOT = new RegExp(
  `<(div|main|section)\\b[^<>]{0,300}\\bid\\s*=\\s*["']?(?:${ROOT_NAMES})["'\\s>][^<>]{0,300}>(?:\\s|<[a-z][^<>]{0,200}>){0,20}\\s*(?:loading|please wait|wird geladen|chargement)`,
  "i",
);
const SCRIPT = /<script\b(?![^<>]{0,300}\btype\s*=\s*["']?application\/(?:ld\+)?json)/i;
const NOSCRIPT = /<noscript\b[^<>]{0,200}>([\s\S]{0,2000}?)<\/noscript/gi;
const ASKS_FOR_SCRIPTS =
  /(?:enable|activate|turn(?:ed)? on|requires?|needs?|without|activ|aktiv|habilit|abilita)[^<>]{0,60}java\s?script|java\s?script[^<>]{0,60}(?:enable|disabled|required|turned off|needed|activ|aktiv|désactivé|deaktiviert|desactivado)|http-equiv\s*=\s*["']?refresh/i;
const LEAVES =
  /<meta\b[^<>]{0,200}http-equiv\s*=\s*["']?refresh[^<>]{0,200}url|<script\b[^<>]{0,200}>\s*(?:(?:window|document|self|top)\.)?location(?:\.href|\.replace|\.assign)?\s*[=(]/i;

/** @returns why the page is rendered, or null where it is not */
export function renderReason(
  mode: CrawlConfig["render"],
  html: string,
  extraction: Pick<Extraction, "text">,
): string | null {
  if (mode === "never") return null;
  if (mode === "always") return "always";
  const chars = extraction.text.length;
  if (chars >= ENOUGH_TEXT_OF_A_SHELL) return null;
  const searched = html.slice(0, SEARCHED_CHARS);
  // what no script fills stays as it is
  if (!SCRIPT.test(searched)) return null;
  const told = (what: string): string => `${what}; the HTML holds ${chars} characters of text`;
  if (EMPTY_ROOT.test(searched) || EMPTY_ROOT_OF_UNQUOTED.test(searched)) return told("an application's root is empty");
  if (LOADING_ROOT.test(searched)) return told("an application's root only says that it loads");
  if (chars >= ENOUGH_TEXT) return null;
  if (asksForScripts(searched)) return told("noscript asks for JavaScript");
  if (LEAVES.test(searched)) return told("the page replaces itself by another one");
  if (html.length >= LONG_MARKUP && chars / html.length < SHELL_SHARE) {
    return told(`text is ${((100 * chars) / html.length).toFixed(1)} % of the page`);
  }
  return null;
}

function asksForScripts(html: string): boolean {
  for (const [, inside = ""] of html.matchAll(NOSCRIPT)) if (ASKS_FOR_SCRIPTS.test(inside)) return true;
  return false;
}
