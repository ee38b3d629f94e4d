/**
 * Finds the main content of a page.
 *
 * 1. Measure: text, links and punctuation below every element; from these, how much prose it holds. Hidden text that a
 *    script shows later is shown.
 * 2. Weigh: prose behind names of furniture counts little, unless most of the page stands behind them.
 * 3. Descend from the body to the lowest element that still holds most of the prose; take in the headline, the lead,
 *    the facts and short sections beside it, and what stands around a short text.
 * 4. Clean what is left inside: furniture, repetitions, what leads away, and the short lines at both ends.
 * 5. Where most of the page's prose is lost that way, believe the hints less, and do 2 to 4 again.
 *
 * A page with hardly any prose (an index, a table, a form) keeps all of its main part but the furniture.
 */
import { type ChildNode, isText } from "domhandler";
import { headingLevel } from "../parse/element-kinds.ts";
import { type Page, PageElement } from "../parse/page-tree.ts";
import { headPanels } from "./accordions.ts";
import { clean, dropRepeats } from "./boilerplate.ts";
import { trimEdges } from "./edges.ts";
import { holdsFact, isHeadedFacts } from "./facts.ts";
import { acquitHeadline, findHeadline, withHeadline } from "./headline.ts";
import { showHiddenText } from "./hidden-text.ts";
import { HintReader } from "./hints.ts";
import { linesOf, linkDensity } from "./lines.ts";
import { dropNotes } from "./notes.ts";
import { PageHints } from "./page-hints.ts";
import { selectEnough } from "./page-level.ts";
import { isInvisible, measure, type Notes } from "./prose.ts";
import { holdsMeasuredList } from "./quantities.ts";
import { dropSeeAlso } from "./see-also.ts";

/** Elements that hold text rather than other containers: the descent stops above them. */
const LEAVES = new Set("p pre blockquote ul ol dl li table thead tbody tr figure h1 h2 h3 h4 h5 h6".split(" "));

/** The descent goes on while one child holds this share of its parent's prose. */
const DOMINANT = 0.75;
/** Prose behind a hint counts this much when it is compared with prose without one. */
const HINTED_WEIGHT = 0.1;
/** Characters of prose below which a page is no article. */
const ENOUGH_PROSE = 140;
/** Beside more teasers than this share allows, a little prose is a site's own description, unless it is much. */
const SHARE_OF_PROSE = 0.25;
const MUCH_PROSE = 1000;
/** Characters outside links, and their share of the page's, from which a part may be the main one. */
const ENOUGH_TEXT = 40;
const SHARE_OF_TEXT = 0.2;
/** Share of links from which a part of a thread leads to others. */
const LINKS_OF_ANSWER = 0.5;
/** Prose up to which a text is short. */
const SHORT_PROSE = 400;

export interface MainContent {
  /** In document order; elements below them with `dropped` set are not content. */
  roots: ChildNode[];
}

/** Finds the elements that hold the main content, and marks what is none of it as dropped. */
export function findMainContent(page: Page): MainContent {
  const top = page.body ?? page.html ?? pseudoBody(page);
  headPanels(page.unfolding, top);
  const notes: Notes = { headings: [], hidden: [], dropped: [] };
  measure(top, notes);
  const reader = new HintReader();
  showHiddenText(top, notes, reader);
  const headline = findHeadline(page, notes.headings);
  if (headline !== null) acquitHeadline(headline);
  const hints = new PageHints(top, page, reader, headline ?? page.h1);
  const roots = selectEnough(top, notes, hints, headline ?? page.h1, () => select(top, page, headline, hints));
  if (roots.some(holdsText)) return { roots };
  // Every part was taken for boilerplate, so none of it is.
  restore(top);
  return { roots: [top] };
}

/** Finds the elements that hold the main content as far as the hints are believed. */
function select(top: PageElement, page: Page, headline: PageElement | null, hints: PageHints): PageElement[] {
  weigh(top, hints);
  const isArticle =
    top.weight >= ENOUGH_PROSE && (top.weight >= MUCH_PROSE || top.weight >= top.prose * SHARE_OF_PROSE);
  const main = mainPart(top);
  const facts = new Set<PageElement>();
  const roots = isArticle
    ? withHeadline(widen(descend(top, main, hints)), headline, page, hints, facts)
    : [main ?? top];
  for (const root of roots) clean(root, root, hints, isArticle);
  if (isArticle) {
    dropRepeats(roots);
    const lines = linesOf(roots.filter((root) => !facts.has(root)));
    dropSeeAlso(lines, page);
    dropNotes(lines, page);
    trimEdges(lines, roots, headline, hints);
  }
  return roots;
}

function holdsText(element: PageElement): boolean {
  return element.children.some((child) =>
    isText(child) ? child.data.trim() !== "" : child instanceof PageElement && !child.dropped && holdsText(child),
  );
}

function restore(element: PageElement): void {
  for (const child of element.children) {
    if (!(child instanceof PageElement)) continue;
    child.dropped = isInvisible(child);
    if (!child.dropped) restore(child);
  }
}

function pseudoBody(page: Page): PageElement {
  const body = new PageElement("body", {});
  body.children = page.root.children;
  return body;
}

/** Discounts what stands behind hints. */
function weigh(element: PageElement, hints: PageHints): void {
  let below = 0;
  let weighed = 0;
  let leaves = 0;
  let solid = 0;
  let { textLength: shown, linkLength } = element;
  let plain = shown - linkLength;
  for (const child of element.children) {
    if (!(child instanceof PageElement) || child.dropped || !child.isBlock || child.textLength === 0) continue;
    weigh(child, hints);
    shown += child.shown - child.textLength;
    plain += child.plain - (child.textLength - child.linkLength);
    if (child.prose === 0) continue;
    below += child.prose;
    weighed += child.weight;
    if (child.isLeaf) leaves += child.prose;
    else solid = Math.max(solid, child.solid);
  }
  const own = Math.max(0, element.prose - below);
  element.isLeaf = below === 0;
  element.solid = Math.max(solid, own + leaves);
  element.weight = weighed + own;
  const isHinted = hints.applies(element);
  if (isHinted) element.weight *= HINTED_WEIGHT;
  element.shown = isHinted ? 0 : shown;
  element.plain = isHinted ? 0 : Math.max(0, plain);
}

/** The part that the page itself calls its main one, if it holds enough of the text. */
function mainPart(top: PageElement): PageElement | null {
  let main: PageElement | null = null;
  let count = 0;
  const visit = (element: PageElement): void => {
    for (const child of element.children) {
      if (!(child instanceof PageElement) || child.dropped || child.textLength === 0) continue;
      if (child.name === "main" || child.attribs.role === "main") {
        main = child;
        count++;
      } else if (child.isBlock) visit(child);
    }
  };
  visit(top);
  if (main === null || count > 1) return null;
  const { plain } = main as PageElement;
  return plain >= ENOUGH_TEXT && plain >= top.plain * SHARE_OF_TEXT ? main : null;
}

/** The lowest element that still holds most of the prose, and what belongs to it beside it. */
function descend(top: PageElement, main: PageElement | null, hints: PageHints): PageElement[] {
  const roots = lowest(top, hints);
  if (main === null || roots.some((root) => isWithin(root, main) || isWithin(main, root))) return roots;
  return lowest(main, hints);
}

function isWithin(element: PageElement, around: PageElement): boolean {
  for (let node: unknown = element; node instanceof PageElement; node = node.parent) if (node === around) return true;
  return false;
}

function lowest(top: PageElement, hints: PageHints): PageElement[] {
  let current = top;
  let extras: { before: PageElement[]; after: PageElement[] } = {
    before: [],
    after: [],
  };
  for (;;) {
    const dominant = current.children.find(
      (child): child is PageElement =>
        child instanceof PageElement &&
        !child.dropped &&
        !LEAVES.has(child.name) &&
        child.weight >= current.weight * DOMINANT,
    );
    if (dominant === undefined) return [...extras.before, current, ...extras.after];
    const before: PageElement[] = [];
    const after: PageElement[] = [];
    const kinds = new Set(dominant.children.map(kindOf));
    let side = before;
    for (const child of current.children) {
      if (child === dominant) side = after;
      else if (
        child instanceof PageElement &&
        !child.dropped &&
        (isSiblingContent(child) ||
          isOfKind(child, kinds) ||
          (child.headings > 0 && holdsMeasuredList(child)) ||
          (hints.isForum && side === after && isOfThread(child, hints)) ||
          (!hints.isReport && side === after && isHeadedFacts(child, hints)) ||
          (isShortSection(child) &&
            (side === after || isAlike(child, dominant) || (before.length > 0 && holdsFact(child, hints)))))
      )
        side.push(child);
    }
    const below = [...after, ...extras.after];
    // What follows the only article of a page is none of it, but facts may be.
    const isFactual = (element: PageElement): boolean => !hints.isReport && isHeadedFacts(element, hints);
    const belonging = isWholeArticle(dominant, current) ? below.filter(isFactual) : below;
    extras = { before: [...extras.before, ...before], after: belonging };
    current = dominant;
  }
}

/** Whether it is an article with most of a page's prose, and none follows it. */
function isWholeArticle({ name, weight }: PageElement, { children }: PageElement): boolean {
  if (name !== "article" || weight < MUCH_PROSE) return false;
  return children.filter((child) => child instanceof PageElement && child.name === "article").length === 1;
}

/** Takes in what stands around a short text: facts, prices and addresses are no prose. */
function widen(roots: PageElement[]): PageElement[] {
  const [only] = roots;
  if (only === undefined || roots.length > 1 || only.prose > SHORT_PROSE) return roots;
  let current = only;
  for (;;) {
    const parent = current.parent;
    if (!(parent instanceof PageElement) || parent.name === "body" || parent.name === "html") return [current];
    const added = parent.shown - current.shown;
    const plain = parent.plain - current.plain;
    if (plain < added * 0.7 || added > Math.max(300, current.shown)) return [current];
    current = parent;
  }
}

/** Prose beside the dominant element that belongs to it: a lead, or a part that stands in a box of its own. */
function isSiblingContent(element: PageElement): boolean {
  if (element.weight < 80) return false;
  return element.linkLength < element.textLength * 0.2 && element.weight > element.textLength * 0.7;
}

/** Prose in a box that is named as the boxes within the dominant element: a wall cut the text in two. */
function isOfKind(element: PageElement, kinds: ReadonlySet<string | null>): boolean {
  return element.weight >= 80 && element.linkedHeadings === 0 && kinds.has(kindOf(element) ?? "");
}

/** Answers beside the first post of a thread. */
const isOfThread = (element: PageElement, hints: PageHints): boolean =>
  (element.prose > 0 || hints.isOfPost(element)) &&
  linkDensity(element) < LINKS_OF_ANSWER &&
  element.linkedHeadings === 0 &&
  !hints.applies(element);

const kindOf = (node: ChildNode): string | null =>
  node instanceof PageElement && !node.dropped && node.attribs.class !== undefined
    ? `${node.name} ${node.attribs.class}`
    : null;

/** Whether two parts begin with headings of one level: they are sections of one text. */
function isAlike(one: PageElement, other: PageElement): boolean {
  const level = levelOf(one);
  return one.name === other.name && level > 1 && level === levelOf(other);
}

/** The level of the heading that a part begins with, or 0. */
function levelOf({ children }: PageElement): number {
  const first = children.find((child) => child instanceof PageElement && child.textLength > 0);
  return first instanceof PageElement ? headingLevel(first.name) : 0;
}

/** A heading with a few words below it that are no links: opening hours, prices, an address. */
function isShortSection({ headings, textLength, linkLength, addressLength, shown, name }: PageElement): boolean {
  return (
    headings > 0 && linkLength === addressLength && shown === textLength && textLength < 300 && headingLevel(name) === 0
  );
}
