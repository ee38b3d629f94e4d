/**
 * Reads from the HTML of a page how it is made: one pass over its tags, no tree, and memory that does not grow with
 * it.
 */
import { Parser } from "htmlparser2";
import { isShadowRoot } from "../../extract/parse/html-rules.ts";

export interface RenderSignals {
  /** There is something that could change the page. */
  scripts: boolean;
  /** Text that the body shows without scripts, its beginning. */
  text: string;
  /** Text within what the frameworks mount into; null where there is no such element. */
  rootText: string | null;
  /** The body has an empty block that could be filled. */
  emptyBlock: boolean;
  /** What is named as the place of the content holds nothing. */
  emptyMain: boolean;
  /** Ids of elements that hold nothing. */
  emptyIds: string[];
  /** Text of `noscript` elements. */
  noscript: string;
  /** A `noscript` leads to another page. */
  noscriptLeaves: boolean;
  /** Seconds until a meta element replaces the page; null where none does. */
  refreshAfter: number | null;
  /** Scripts that stand in the page, each after a `SCRIPT_START`, their beginning. */
  inline: string;
  /** Characters of the page without styles and drawings, which say nothing of its text. */
  length: number;
}

export const SCRIPT_START = "\0";

/** Ids that the common frameworks mount into, and those that people make of them. */
const ROOT_ID =
  /^(?:_*(?:root|app|next|nuxt|gatsby|svelte|application|mount)|(?:react|vue|ember|main|my|spa|web|client|page|site|q|ng)[-_]?(?:root|app)|(?:app|root)[-_]?(?:root|main|container|wrapper|mount|content|shell|view))$/i;
const ROOT_ELEMENT = /^(?:app-(?:root|main|shell)|ng-app|[a-z][a-z0-9-]{0,60}-(?:app|root))$/;
const MAIN_ID = /^(?:main|content|main[-_]?content|page[-_]?content|app[-_]?content|view|ui-view|outlet|viewport)$/i;
const BLOCK = /^(?:div|main|section|article)$|-/;
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
/** Not shown, or no text. */
const UNSEEN = new Set(["head", "script", "style", "template", "noscript", "svg", "title", "iframe", "object"]);
const DATA =
  /^(?:application\/(?:[\w.+-]*\+)?json|importmap|speculationrules|text\/(?:template|x-template|html|x-handlebars[\w-]*))$/i;

/** As much of each text is kept as the decision looks at. */
const KEPT_TEXT = 4_000;
const KEPT_SCRIPT = 100_000;
const KEPT_IDS = 100;
/** Elements within each other; a page with more is not read on. */
const DEEPEST = 1_000;
const PIECE_CHARS = 8_192;

interface OpenElement {
  name: string;
  id: string | undefined;
  empty: boolean;
  isUnseen: boolean;
  /** Index at which it begins. */
  at: number;
}

export function renderSignals(html: string): RenderSignals {
  const signals: RenderSignals = {
    scripts: false,
    text: "",
    rootText: null,
    emptyBlock: false,
    emptyMain: false,
    emptyIds: [],
    noscript: "",
    noscriptLeaves: false,
    refreshAfter: null,
    inline: "",
    length: html.length,
  };
  const open: OpenElement[] = [];
  /** Open elements of `UNSEEN`, outermost first. */
  const unseen: string[] = [];
  /** Elements within the outermost root, itself included; 0 outside. */
  let inRoot = 0;
  let isScript = false;

  const parser = new Parser({
    onopentag(name, attributes) {
      const above = open.at(-1);
      if (above !== undefined && name !== "script") above.empty = false;
      if (name === "meta") noteRefresh(signals, attributes, unseen.includes("noscript"));
      if (VOID.test(name)) return;
      const isUnseen = UNSEEN.has(name) && !isShadowRoot(name, attributes);
      open.push({ name, id: attributes["id"], empty: true, isUnseen, at: parser.startIndex });
      if (isUnseen) unseen.push(name);
      if (name === "script") {
        isScript = !DATA.test((attributes["type"] ?? "").trim());
        signals.scripts ||= isScript;
        signals.inline += SCRIPT_START;
      }
      if (inRoot > 0) inRoot += 1;
      else if (unseen.length === 0 && (ROOT_ID.test(attributes["id"] ?? "") || ROOT_ELEMENT.test(name))) {
        inRoot = 1;
        signals.rootText ??= "";
      }
    },
    ontext(text) {
      if (unseen.at(-1) === "script") {
        if (isScript && signals.inline.length < KEPT_SCRIPT) signals.inline += text.slice(0, KEPT_SCRIPT);
        return;
      }
      if (unseen.includes("noscript")) {
        if (signals.noscript.length < KEPT_TEXT) signals.noscript += ` ${text.slice(0, KEPT_TEXT)}`;
        return;
      }
      if (unseen.length > 0 || text.trim() === "") return;
      const above = open.at(-1);
      if (above !== undefined) above.empty = false;
      if (signals.text.length < KEPT_TEXT) signals.text += ` ${text.slice(0, KEPT_TEXT)}`;
      if (inRoot > 0 && signals.rootText !== null && signals.rootText.length < KEPT_TEXT)
        signals.rootText += ` ${text.slice(0, KEPT_TEXT)}`;
    },
    onclosetag(name) {
      const closed = VOID.test(name) ? undefined : open.pop();
      if (closed === undefined) return;
      const { id, empty, isUnseen, at } = closed;
      if (isUnseen) unseen.pop();
      if (inRoot > 0) inRoot -= 1;
      if ((name === "style" || name === "svg") && !unseen.includes("svg")) signals.length -= parser.endIndex + 1 - at;
      if (!empty || unseen.length > 0) return;
      if (BLOCK.test(name)) signals.emptyBlock = true;
      if (name === "main" || (BLOCK.test(name) && MAIN_ID.test(id ?? ""))) signals.emptyMain = true;
      if (id !== undefined && id !== "" && signals.emptyIds.length < KEPT_IDS) signals.emptyIds.push(id);
    },
  });
  for (let at = 0; at < html.length && open.length <= DEEPEST; at += PIECE_CHARS) {
    parser.write(html.slice(at, at + PIECE_CHARS));
  }
  parser.end();
  return signals;
}

function noteRefresh(signals: RenderSignals, attributes: Record<string, string>, inNoscript: boolean): void {
  if (attributes["http-equiv"]?.toLowerCase() !== "refresh") return;
  const [, seconds, target] =
    /^\s*(\d{0,6})[\d.]*\s*(?:[;,\s]\s*(\S[\s\S]*))?$/.exec(attributes["content"] ?? "") ?? [];
  if (target === undefined) return;
  if (inNoscript) signals.noscriptLeaves = true;
  else signals.refreshAfter ??= Number(seconds ?? 0);
}
