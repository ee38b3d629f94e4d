/**
 * The content of a page as a request selects it: elements that CSS selectors keep or drop, and all that the page shows
 * instead of its main content. Title, links and metadata are those of the whole page in any case.
 */
import type { ChildNode } from "domhandler";
import { completeTree } from "../parse/complete-tree.ts";
import { isHidden } from "../parse/hidden.ts";
import { type Page, PageElement } from "../parse/page-tree.ts";
import { findMainContent, type MainContent } from "./main-content.ts";
import { measure } from "./prose.ts";
import { findAll, selectorsOfPage } from "./selectors.ts";

export interface ContentSelection {
  /** CSS selectors: what matches one of them is the content, whole; none: what the page itself makes its content. */
  include: readonly string[];
  /** CSS selectors: what matches one of them is no content, whatever else says so. */
  exclude: readonly string[];
  /** Whether the page's furniture is left out; false: all that it shows. Of no concern where `include` says more. */
  mainOnly: boolean;
}

export const MAIN_CONTENT: ContentSelection = { include: [], exclude: [], mainOnly: true };

export const hasSelectors = ({ include, exclude } = MAIN_CONTENT): boolean => include.length + exclude.length > 0;

/** Shown, though never part of a main content. */
const FURNITURE = new Set(["nav", "button"]);

/**
 * Finds what is selected, and marks as dropped what is not shown of it. All selectors see the page as browsers do; an
 * element within another that is kept is there once.
 * @throws SelectorLimitError where the page makes the selectors take too long
 */
export function selectContent(page: Page, selection: ContentSelection): MainContent {
  const { include, exclude, mainOnly } = selection;
  if (hasSelectors(selection)) {
    completeTree(page);
    const kept = matching(page, include);
    remove(page, new Set([...matching(page, exclude), ...unshown(page)]));
    if (include.length > 0) return { roots: outermost(page.root, kept).map(asRoot) };
    // what holds the content itself was dropped
    if (page.html?.parent == null || page.body?.parent == null) return { roots: [] };
  }
  return mainOnly ? findMainContent(page) : { roots: [allShown(page.body ?? page.html ?? boxOf(page.root.children))] };
}

function matching(page: Page, selectors: readonly string[]): Set<PageElement> {
  if (selectors.length === 0) return new Set();
  const compiled = selectors.map(selectorsOfPage());
  return new Set(findAll(page.root, (element) => compiled.some((matches) => matches(element))));
}

/** What stands in the tree for selectors alone. */
function unshown({ root }: Page): PageElement[] {
  const found: PageElement[] = [];
  const visit = (children: readonly ChildNode[]): void => {
    for (const child of children) {
      if (!(child instanceof PageElement)) continue;
      if (child.dropped || child.name === "title") found.push(child);
      else visit(child.children);
    }
  };
  visit(root.children);
  return found;
}

/** Takes elements out of the tree, each parent in one pass. */
function remove(page: Page, elements: ReadonlySet<PageElement>): void {
  for (const parent of new Set([...elements].map((element) => element.parent))) {
    if (parent === null) continue;
    const stay = parent.children.filter((child) => !(child instanceof PageElement && elements.has(child)));
    for (const element of elements) if (element.parent === parent) element.parent = null;
    parent.children = stay;
  }
  if (page.h1 !== null && !isBelow(page.h1, page)) page.h1 = null;
}

function isBelow(element: PageElement, { root }: Page): boolean {
  let top: { parent: unknown } = element;
  while (top.parent !== null) top = top.parent as { parent: unknown };
  return top === root;
}

/** Those of the elements that are still in the tree and lie in no other of them. */
function outermost(root: Page["root"], elements: ReadonlySet<PageElement>): PageElement[] {
  const found: PageElement[] = [];
  const visit = (children: readonly ChildNode[]): void => {
    for (const child of children) {
      if (!(child instanceof PageElement)) continue;
      if (elements.has(child)) found.push(child);
      else visit(child.children);
    }
  };
  visit(root.children);
  return found;
}

/** Each stands for itself: text of neighbours does not run together. */
function asRoot(element: PageElement): PageElement {
  const shown = allShown(element);
  return shown.isBlock ? shown : boxOf([shown]);
}

function allShown(element: PageElement): PageElement {
  element.dropped = false;
  measure(element);
  reveal(element);
  return element;
}

function reveal(element: PageElement): void {
  for (const child of element.children) {
    if (!(child instanceof PageElement)) continue;
    if (child.dropped && FURNITURE.has(child.name) && !isHidden(child)) allShown(child);
    else if (!child.dropped) reveal(child);
  }
}

function boxOf(children: ChildNode[]): PageElement {
  const box = new PageElement("div", {});
  box.children = children;
  box.isBlock = true;
  return box;
}
