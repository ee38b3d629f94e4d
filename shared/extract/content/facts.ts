/** Finds the facts that a page gives of what it is about between its headline and its text: tables, lists, a price. */
import { type ChildNode, isText } from "domhandler";
import { collapsedText, headingLevel, isDataTable } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";
import { isDate } from "./edges.ts";
import { linkDensity } from "./lines.ts";
import type { PageHints } from "./page-hints.ts";

/** Text of a part with facts, at most, and the share of it that is links. */
const LONGEST = 4000;
const MOST_LINKS = 0.4;
/** Characters of a price with its words, and of one point of a list. */
const LONGEST_PRICE = 40;
const LONGEST_POINT = 200;
const FEWEST_POINTS = 2;
/** Elements that are looked at, and nodes and characters of one that is read. */
const MOST_LOOKED_AT = 200;
const MOST_NODES = 60;
const MOST_CHARACTERS = 1000;

const CURRENCY = "[$€£¥₹₩₽₺₴฿]|\\b(?:USD|EUR|GBP|CHF|AUD|CAD|JPY|SEK|NOK|DKK|PLN|CZK|HUF|kr|zł|Kč|Ft|lei)\\b";
const PRICE = new RegExp(`(?:${CURRENCY})\\s?\\d|\\d\\s?(?:${CURRENCY})`, "iu");

export interface Facts {
  /** The outermost element around the headline that holds facts, or null. */
  headed: PageElement | null;
  /** Others, in document order. */
  beside: PageElement[];
}

/**
 * @param head the headline, which stands before the root and outside of it
 * @param between what stands between the two, topmost elements
 */
export function findFacts(
  head: PageElement,
  root: PageElement,
  between: readonly PageElement[],
  hints: PageHints,
): Facts {
  let headed: PageElement | null = null;
  const around = new Set<unknown>();
  for (let node: unknown = root; node instanceof PageElement; node = node.parent) around.add(node);
  let below = head;
  let isHeld = false;
  for (let node = head.parent; node instanceof PageElement && !around.has(node); node = node.parent) {
    // what stands below was looked at already
    isHeld ||= isAnyFactual(node, below, hints);
    if (isHeld && isCompact(node) && !hints.applies(node)) headed = node;
    below = node;
  }
  const held = headed;
  const beside = between.filter((element) => !isBelow(element, held) && isFactual(element, hints));
  return { headed, beside };
}

/** Whether facts stand in it below a heading: of a product, an event, or how to reach somebody. */
export const isHeadedFacts = (element: PageElement, hints: PageHints): boolean =>
  element.headings > 0 &&
  element.linkedHeadings === 0 &&
  headingLevel(element.name) === 0 &&
  isCompact(element) &&
  !hints.applies(element) &&
  (element.addressLength > 0 || holdsFact(element, hints));

function isBelow(element: PageElement, around: PageElement | null): boolean {
  for (let node: unknown = element; node instanceof PageElement; node = node.parent) if (node === around) return true;
  return false;
}

const isFactual = (element: PageElement, hints: PageHints): boolean =>
  isCompact(element) && !hints.applies(element) && holdsFact(element, hints);

const isCompact = (element: PageElement): boolean =>
  !element.dropped &&
  element.isBlock &&
  element.textLength > 0 &&
  element.textLength <= LONGEST &&
  linkDensity(element) <= MOST_LINKS;

/** Whether a child holds a fact, other than the one that leads to the headline. */
function isAnyFactual({ children }: PageElement, other: PageElement, hints: PageHints): boolean {
  const budget = { left: MOST_LOOKED_AT };
  return children.some(
    (child) =>
      child instanceof PageElement &&
      child !== other &&
      !child.dropped &&
      !hints.applies(child) &&
      holdsFact(child, hints, budget),
  );
}

/** Whether a fact stands in it, outside of its furniture. */
export function holdsFact(element: PageElement, hints: PageHints, budget = { left: MOST_LOOKED_AT }): boolean {
  if (budget.left-- <= 0 || element.textLength === 0 || headingLevel(element.name) > 0) return false;
  if (isFact(element)) return true;
  return element.children.some(
    (child) =>
      child instanceof PageElement && !child.dropped && !hints.applies(child) && holdsFact(child, hints, budget),
  );
}

function isFact(element: PageElement): boolean {
  const { name, linkLength, addressLength, textLength } = element;
  if (linkDensity(element) > MOST_LINKS) return false;
  if (name === "table") return isDataTable(element);
  if (name === "dl") return points(element.children) >= FEWEST_POINTS;
  if (name === "ul" || name === "ol") return linkLength === addressLength && points(element.children) >= FEWEST_POINTS;
  if (textLength > LONGEST_PRICE || holdsBlock(element) || !isBrief(element)) return false;
  return PRICE.test(collapsedText(element)) && !isDate(element);
}

/** Points of a list; none where one of them is a date, or more than a point. */
function points(children: readonly ChildNode[]): number {
  let count = 0;
  for (const child of children) {
    if (isText(child) || !(child instanceof PageElement) || child.textLength === 0) continue;
    if (child.textLength > LONGEST_POINT || !isBrief(child) || isDate(child)) return 0;
    count++;
  }
  return count;
}

/** Whether its text is soon put together: blanks and elements without text are text to whoever reads them all. */
function isBrief(element: PageElement): boolean {
  let nodes = MOST_NODES;
  let characters = MOST_CHARACTERS;
  const fits = (node: ChildNode): boolean => {
    if (isText(node)) characters -= node.data.length;
    if (--nodes < 0 || characters < 0) return false;
    return !(node instanceof PageElement) || node.children.every(fits);
  };
  return fits(element);
}

const holdsBlock = ({ children }: PageElement): boolean =>
  children.some((child) => child instanceof PageElement && child.isBlock);
