/**
 * Shows hidden text that a script shows later: tabs, answers that unfold, the rest of a shortened text, and a page that
 * is hidden until it is loaded. What an element is tells it from menus, dialogs and messages, which stay hidden.
 */
import { collapsedText, headingLevel } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";
import type { HintReader } from "./hints.ts";
import { linkDensity } from "./lines.ts";
import { measure, type Notes } from "./prose.ts";

/** Prose from which hidden text is looked at. */
const ENOUGH_PROSE = 80;
/** Hidden text is the page where it is this much, and what is shown is less than this part of it. */
const WHOLE_PAGE = 150;
const SHOWN_OF_PAGE = 0.4;
/** Prose of a text for who has no scripts, where next to nothing else is there. */
const SCRIPTLESS_PROSE = 25;
const SCRIPTLESS_MARKS = 3;
const MOST_PANELS = 100;
/** Characters of a question that is a button. */
const SHORTEST_QUESTION = 10;
/** Names of what a reader unfolds. */
const UNFOLDS =
  /(?:^|[^a-z])(?:tabs?|tab-?pane|panel|pane|accordion|collaps\w*|toggle|faq|answer|more|expand\w*|full-?text|fade)(?![a-z])/i;
const NO_TEXT = new Set([
  "dialog",
  "alertdialog",
  "alert",
  "status",
  "menu",
  "menubar",
  "tooltip",
  "navigation",
  "search",
]);

/**
 * @param top measured
 * @param notes of its measure; takes the headings that are shown
 */
export function showHiddenText(top: PageElement, { hidden, headings, dropped }: Notes, hints: HintReader): void {
  const candidates = hidden.filter((element) => {
    if (NO_TEXT.has(element.attribs.role ?? "") || hints.hint(element).sure) return false;
    measure(element, { headings: [], hidden: [], dropped });
    if (linkDensity(element) >= 0.3) return false;
    return element.prose >= ENOUGH_PROSE || isAnswer(element) || isPanel(element) || isScriptlessPage(element, top);
  });
  const shown = top.prose;
  const whole = Math.max(0, ...candidates.map(({ prose }) => prose));
  const isPage = whole >= WHOLE_PAGE && shown < whole * SHOWN_OF_PAGE;
  const texts = candidates.filter((element) => isScriptlessPage(element, top));
  for (const element of candidates) {
    const isScriptless = element.name === "noscript";
    const isText = texts.includes(element) || (isPage && element.prose >= whole * 0.3);
    if (isText || (!isScriptless && isPart(element))) {
      show(element, top, headings);
    }
  }
}

/** Whether it is a part of the text, and no other text that is shown below it. */
function isPart(element: PageElement): boolean {
  if (!unfolds(element) && !continues(element) && !isAnswer(element) && !isPanel(element)) return false;
  const headings: PageElement[] = [];
  collectHeadings(element, headings);
  return headings.every(({ name }) => name !== "h1");
}

/** Whether a script is to make the page, and a text, not a warning, stands there for who has none. */
function isScriptlessPage(element: PageElement, top: PageElement): boolean {
  const { name, headings, prose, punctuation } = element;
  if (name !== "noscript" || prose < SCRIPTLESS_PROSE || top.textLength >= SCRIPTLESS_PROSE) return false;
  return (headings > 0 || punctuation >= SCRIPTLESS_MARKS) && !/javascript/i.test(collapsedText(element));
}

/** Whether it unfolds below a heading that is a button: an answer may be short. */
function isAnswer(element: PageElement): boolean {
  if (element.textLength === 0) return false;
  let before = element.prev;
  while (before !== null && !(before instanceof PageElement && before.textLength > 0)) before = before.prev;
  if (!(before instanceof PageElement)) return false;
  if (before.attribs.role === "button") return before.isBlock && before.textLength >= SHORTEST_QUESTION;
  return (headingLevel(before.name) > 0 || before.name === "dt") && isButton(before);
}

/** Whether it is one of several panels, and another one is shown: what they hold may be facts. */
function isPanel(element: PageElement): boolean {
  if (element.textLength === 0 || !isNamedPanel(element)) return false;
  const siblings = element.parent?.children ?? [];
  return siblings
    .slice(0, MOST_PANELS)
    .some((other) => other instanceof PageElement && !other.dropped && other.textLength > 0 && isNamedPanel(other));
}

const isNamedPanel = ({ attribs }: PageElement): boolean =>
  attribs.role === "tabpanel" || /(?:^|[^a-z])tab-?(?:pane|panel|content)(?![a-z])/i.test(attribs.class ?? "");

function isButton({ children }: PageElement): boolean {
  return children.some(
    (child) =>
      child instanceof PageElement && (child.name === "button" || child.attribs.role === "button" || isButton(child)),
  );
}

function unfolds({ attribs }: PageElement): boolean {
  const { role } = attribs;
  if (role === "tabpanel" || (role === "region" && attribs["aria-labelledby"] !== undefined)) return true;
  return UNFOLDS.test(`${attribs.class ?? ""} ${attribs.id ?? ""}`);
}

/** Whether it goes on with what the same kind of element before it says. */
function continues(element: PageElement): boolean {
  let before = element.prev;
  while (before !== null && !(before instanceof PageElement && (before.dropped || before.textLength > 0))) {
    before = before.prev;
  }
  return before instanceof PageElement && before.name === element.name && before.prose >= ENOUGH_PROSE;
}

/** Adds the figures of an element to those of all around it. */
export function show(element: PageElement, top: PageElement, headings: PageElement[]): void {
  element.dropped = false;
  collectHeadings(element, headings);
  for (let node = element.parent; node instanceof PageElement; node = node.parent) {
    node.textLength += element.textLength;
    node.linkLength += element.linkLength;
    node.addressLength += element.addressLength;
    node.punctuation += element.punctuation;
    node.prose += element.prose;
    node.headings += element.headings;
    node.linkedHeadings += element.linkedHeadings;
    node.isBlock ||= element.isBlock;
    if (node === top) break;
  }
}

function collectHeadings(element: PageElement, headings: PageElement[]): void {
  if (/^h[1-6]$/.test(element.name)) headings.push(element);
  for (const child of element.children) {
    if (child instanceof PageElement && !child.dropped) collectHeadings(child, headings);
  }
}
