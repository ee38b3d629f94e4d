/**
 * Finds the main content of a page.
 *
 * 1. Measure: text, links and punctuation below every element; from these, how much prose it holds.
 * 2. Descend from the body to the lowest element that still holds most of the prose.
 * 3. Clean what is left inside: hinted boilerplate, lists of links, empty shells.
 *
 * A page with hardly any prose (an index, a table, a form) keeps everything but its furniture.
 */
import { type ChildNode, isText, type ParentNode } from "domhandler";
import { type Page, PageElement } from "../parse/page-tree.ts";
import { clean, dropRepeats, trimEdges } from "./boilerplate.ts";
import { PageHints } from "./page-hints.ts";
import { isInvisible, measure } from "./prose.ts";

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
export interface MainContent {
  /** In document order; elements below them with `dropped` set are not content. */
  roots: ChildNode[];
}

/** Finds the elements that hold the main content, and marks what is none of it as dropped. */
export function findMainContent(page: Page): MainContent {
  const top = page.body ?? page.html ?? pseudoBody(page);
  measure(top);
  const hints = new PageHints(top);
  weigh(top, hints);
  const isArticle =
    top.weight >= ENOUGH_PROSE && (top.weight >= MUCH_PROSE || top.weight >= top.prose * SHARE_OF_PROSE);
  const roots = isArticle ? withHeadline(descend(top), page.h1) : [top];
  for (const root of roots) clean(root, root, hints, isArticle);
  if (isArticle) {
    dropRepeats(roots);
    trimEdges(roots);
  }
  if (roots.some(holdsText)) return { roots };
  // Every part was taken for boilerplate, so none of it is.
  restore(top);
  return { roots: [top] };
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

/** Discounts prose behind hints. */
function weigh(element: PageElement, hints: PageHints): void {
  let below = 0;
  let weighed = 0;
  let leaves = 0;
  let solid = 0;
  for (const child of element.children) {
    if (!(child instanceof PageElement) || child.dropped || !child.isBlock || child.prose === 0) continue;
    weigh(child, hints);
    below += child.prose;
    weighed += child.weight;
    if (child.isLeaf) leaves += child.prose;
    else solid = Math.max(solid, child.solid);
  }
  const own = Math.max(0, element.prose - below);
  element.isLeaf = below === 0;
  element.solid = Math.max(solid, own + leaves);
  element.weight = weighed + own;
  if (hints.applies(element)) element.weight *= HINTED_WEIGHT;
}

function descend(top: PageElement): PageElement[] {
  let current = top;
  let extras: { before: PageElement[]; after: PageElement[] } = { before: [], after: [] };
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
    let side = before;
    for (const child of current.children) {
      if (child === dominant) side = after;
      else if (child instanceof PageElement && !child.dropped && isSiblingContent(child)) side.push(child);
    }
    extras = { before: [...extras.before, ...before], after: [...after, ...extras.after] };
    current = dominant;
  }
}

/** The page's first h1 heads its content, if it stands before it in the same article or main part. */
function withHeadline(roots: PageElement[], h1: PageElement | null): PageElement[] {
  if (h1 === null || h1.dropped || h1.textLength === 0) return roots;
  const around = new Set<unknown>();
  for (let node = h1.parent; node !== null; node = node.parent) around.add(node);
  if (roots.some((root) => around.has(root))) return roots;
  let shared: ParentNode | null = roots[0]?.parent ?? null;
  while (shared !== null && !around.has(shared)) shared = shared.parent;
  const isHeaded = shared instanceof PageElement && (shared.name === "main" || shared.name === "article");
  return isHeaded ? [h1, ...roots] : roots;
}

/** Prose beside the dominant element that belongs to it: a lead, or a part that stands in a box of its own. */
function isSiblingContent(element: PageElement): boolean {
  if (element.weight < 80) return false;
  return element.linkLength < element.textLength * 0.2 && element.weight > element.textLength * 0.7;
}
