/**
 * Decides from its HTML alone whether a page must be opened in a browser to be read. That is nearly free: one pass over
 * the tags, and the main content that has been extracted anyway.
 *
 * A page that has its text is never rendered, whatever else it holds: server-side rendering with hydration has both an
 * application's root and the text. Nor is a page that says little but says it: what is looked for is a place that waits
 * to be filled.
 */
import type { Extraction } from "../../extract/extraction.ts";
import { onlyLoads } from "../../render/page-scripts.ts";
import type { CrawlConfig } from "../settings/crawl-config.ts";
import { type RenderSignals, renderSignals } from "./render-signals.ts";

/** Characters of main content from which on a page has its text: a paragraph and its heading. */
const ENOUGH_TEXT = 500;
/**
 * Where the page itself says that it needs scripts, or where its application's root is empty, this much may be a cookie
 * notice.
 */
const ENOUGH_TEXT_OF_A_SHELL = 1_500;
/** Where nothing in it waits to be filled, this much is a page that has little to say. */
const ENOUGH_TEXT_OF_A_SMALL_PAGE = 100;
/** Of a page with more, a script that fills one element fills something beside the text. */
const ENOUGH_TEXT_BESIDE_A_SLOT = 200;
/** Text to markup of pages that are all markup: below it, a long page with hardly any text is an application. */
const SHELL_SHARE = 0.01;
const LONG_MARKUP = 20_000;
/** Only so much of a page is searched for signals; shells are small. */
const SEARCHED_CHARS = 300_000;
/** A page that stays longer than this is there to be read. Seconds. */
const SHORT_STAY_S = 10;

const ASKS_FOR_SCRIPTS =
  /(?:enabl|activat|turn(?:ed)? on|requir|needs?\b|without|allow|activ|aktiv|habilit|abilita|attiva|включ)[^.]{0,60}java\s?script|java\s?script[^.]{0,60}(?:enabl|disabl|required|turned o|needed|activ|aktiv|désactiv|deaktiv|desactiv|abilit|有効|啟用|启用|사용|включ|inschakel|påslag)/i;
/** It would be nice to have scripts, or something beside the page needs them. */
const GOES_WITHOUT =
  /\b(?:best|better|some (?:features|parts|of)|certain|full(?:y)? (?:functional|experience)|all (?:the )?features|comments?|optimal|enhanced?)\b/i;
/** The first thing that a script does, see `SCRIPT_START`. */
const LEAVES = /\0\s*(?:(?:window|document|self|top)\.)?location(?:\.href|\.replace|\.assign)?\s*(?:=(?!=)|\()/;
/** An element that a script looks up in order to fill it. */
const FILLS =
  /\.(?:innerHTML|outerHTML|textContent|innerText)\s*\+?=(?!=)|\.(?:append|appendChild|prepend|replaceChildren|insertAdjacent\w+)\(|\brender\(|\bmount\(/;

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
  const signals = renderSignals(html.slice(0, SEARCHED_CHARS));
  // what no script fills stays as it is
  if (!signals.scripts) return null;
  const signal = rootSignal(signals) ?? (chars < ENOUGH_TEXT ? pageSignal(signals, chars, html.length) : null);
  return signal === null ? null : `${signal}; the HTML holds ${chars} characters of text`;
}

function rootSignal({ rootText }: RenderSignals): string | null {
  if (rootText === null) return null;
  if (withoutPlaceholders(rootText) === "") return "an application's root is empty";
  return onlyLoads(rootText) ? "an application's root only says that it loads" : null;
}

function pageSignal(signals: RenderSignals, chars: number, htmlLength: number): string | null {
  const { text, rootText, emptyBlock, inline, refreshAfter } = signals;
  const length = htmlLength - Math.min(htmlLength, SEARCHED_CHARS) + signals.length;
  if (chars < ENOUGH_TEXT_BESIDE_A_SLOT && length >= LONG_MARKUP && chars / length < SHELL_SHARE) {
    return `text is ${((100 * chars) / length).toFixed(1)} % of the page`;
  }
  if (asksForScripts(signals)) {
    // an application that the server has rendered keeps its plea
    const served = rootText !== null && rootText.trim().length >= ENOUGH_TEXT_OF_A_SMALL_PAGE / 2;
    if (!served && (emptyBlock || chars < ENOUGH_TEXT_OF_A_SMALL_PAGE)) return "noscript asks for JavaScript";
  }
  if (LEAVES.test(inline) || (refreshAfter !== null && refreshAfter <= SHORT_STAY_S)) {
    return "the page replaces itself by another one";
  }
  if (withoutPlaceholders(text) === "") return "the body holds no text";
  if (onlyLoads(text)) return "the body only says that it loads";
  if (chars >= ENOUGH_TEXT_BESIDE_A_SLOT) return null;
  if (signals.emptyMain) return "the place of the content is empty";
  if (PLACEHOLDER.test(text)) return "a template's placeholders stand for text";
  const filled = filledElement(signals);
  return filled === undefined ? null : `a script fills the empty element #${filled}`;
}

/** What frameworks that read their templates from the page put text in the place of. */
const PLACEHOLDER = /\{\{[^{}]{1,200}\}\}/;

const withoutPlaceholders = (text: string): string => text.replaceAll(new RegExp(PLACEHOLDER, "g"), " ").trim();

function asksForScripts({ noscript, noscriptLeaves }: RenderSignals): boolean {
  return noscriptLeaves || (ASKS_FOR_SCRIPTS.test(noscript) && !GOES_WITHOUT.test(noscript));
}

/** An empty element that a script of the page names and fills. */
function filledElement({ emptyIds, inline }: RenderSignals): string | undefined {
  if (!FILLS.test(inline)) return undefined;
  return emptyIds.find((id) =>
    [`"${id}"`, `'${id}'`, `\`${id}\``, `"#${id}"`, `'#${id}'`, `\`#${id}\``].some((named) => inline.includes(named)),
  );
}
